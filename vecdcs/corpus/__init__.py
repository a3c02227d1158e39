"""What lies on disk: forests, vocabularies, evidence."""
