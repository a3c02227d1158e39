"""What the small world is made of: its names, words and preferences, as tables.

Every entity belongs to one of three latent groups (0, 1, 2) of its kind; the tables say what each group is likely to be
and to do. Names are single words, and none ends in -s, so that a tagger has no plural to see in them.
"""

from __future__ import annotations

from typing import NamedTuple

MEN = (
    "John Peter Paul David Robert Richard Henry George Arthur Edward Daniel Martin Simon Andrew Philip Walter Oliver "
    "Samuel Joseph Albert Oscar Ivan Kenji Pedro"
).split()
WOMEN = (
    "Mary Anna Sarah Laura Julia Emma Helen Susan Linda Maria Elena Nina Clara Alice Lucy Jane Diana Sofia Olga Yuki "
    "Ingrid Rachel Hannah Eva"
).split()

# Geography is the real one: a country, its capital, then other cities.
GEOGRAPHY = tuple(
    line.split()
    for line in (
        "Canada Ottawa Toronto Montreal",
        "Japan Tokyo Osaka Kyoto",
        "Norway Oslo Bergen",
        "Peru Lima Cusco",
        "Chile Santiago",
        "Kenya Nairobi",
        "Ghana Accra",
        "Iceland Reykjavik",
        "Portugal Lisbon Porto",
        "Italy Rome Milan Turin",
        "Austria Vienna Salzburg",
        "Denmark Copenhagen",
        "Mongolia Ulaanbaatar",
        "Nepal Kathmandu",
        "Jamaica Kingston",
        "Uruguay Montevideo",
        "Zambia Lusaka",
        "Malta Valletta",
        "Fiji Suva",
        "Ecuador Quito",
        "Finland Helsinki",
        "Madagascar Antananarivo",
        "Thailand Bangkok",
        "Ireland Dublin Galway",
    )
)


class Kind(NamedTuple):
    """A kind of entity: its names and how they stand in a sentence (`name`, `mass` or `the`)."""

    style: str
    names: tuple[str, ...]


def _kind(style: str, *lines: str) -> Kind:
    return Kind(style, tuple(" ".join(lines).split()))


KINDS = {
    "person": Kind("name", (*MEN, *WOMEN)),
    "country": Kind("name", tuple(country for country, *_ in GEOGRAPHY)),
    "city": Kind("name", tuple(city for _, *cities in GEOGRAPHY for city in cities)),
    "company": _kind(
        "name",
        "Zentrix Norvane Calderon Brightwell Halcyon Ostrell Pellworth Vantico Meridian Quandor Ferrano Luminor",
        "Tarkwell Solvane Drexon Kestrin Orinex Bellmore Granova Westhaven Arcadex Hartwell Corvane Torvald",
    ),
    "drug": _kind(
        "name",
        "Thalidomide Aspirin Morphine Codeine Ibuprofen Heroin Cocaine Diazepam Ketamine Quinine Fluoxetine Oxycodone",
        "Fentanyl Methadone Opium Penicillin Insulin Warfarin Lithium Melatonin Naproxen Tramadol Ecstasy Caffeine",
    ),
    "book": _kind(
        "name",
        "Moonfall Ravenwood Winterlight Ashgrove Emberfall Nightingale Silverthorn Blackwater Thornfield Dragonheart",
        "Starlight Evergreen Wildfire Kingmaker Shadowland Firebird Stormbringer Goldmine Heartland Wanderlust",
        "Daybreak Clockwork Snowbound Stonehenge",
    ),
    "film": _kind(
        "name",
        "Vertigo Rashomon Nosferatu Gladiator Titanic Avatar Inception Ratatouille Shrek Bambi Dumbo Tootsie Zelig",
        "Stalker Ikiru Goldfinger Braveheart Seabiscuit Moonraker Highlander Thunderball",
    ),
    "food": _kind(
        "mass",
        "bread rice cheese beef honey butter garlic chocolate ham soup pasta pork corn lamb yogurt spinach salmon tofu",
    ),
    "animal": _kind(
        "name",
        "Rex Fido Rover Bingo Snoopy Lassie Toto Felix Garfield Tigger Milo Nero Simba Luna Bruno Balto Bella Otto",
    ),
    "instrument": _kind("the", "piano violin guitar flute harp cello trumpet organ accordion"),
    "place": _kind("the", "beach lawn roof street bridge hill shore carpet stage"),
}

# How likely a member of each group is to have the property: class nouns and adjectives.
PROPERTIES: tuple[tuple[str, str, tuple[float, float, float]], ...] = (
    ("person", "teacher/N", (0.9, 0.1, 0.0)),
    ("person", "writer/N", (0.0, 0.9, 0.1)),
    ("person", "student/N", (0.1, 0.0, 0.9)),
    ("person", "singer/N", (0.1, 0.4, 0.2)),
    ("person", "famous/J", (0.2, 0.8, 0.0)),
    ("person", "young/J", (0.0, 0.2, 0.8)),
    ("country", "country/N", (1, 1, 1)),
    ("country", "kingdom/N", (0.9, 0.0, 0.1)),
    ("country", "republic/N", (0.0, 0.9, 0.6)),
    ("country", "rich/J", (0.8, 0.3, 0.0)),
    ("city", "city/N", (1, 1, 1)),
    ("city", "port/N", (0.6, 0.1, 0.3)),
    ("city", "dangerous/J", (0.1, 0.7, 0.1)),
    ("city", "old/J", (0.8, 0.2, 0.1)),
    ("company", "company/N", (1, 1, 1)),
    ("company", "publisher/N", (0.9, 0.0, 0.0)),
    ("company", "manufacturer/N", (0.0, 0.9, 0.1)),
    ("company", "retailer/N", (0.1, 0.0, 0.9)),
    ("company", "rich/J", (0.7, 0.2, 0.1)),
    ("drug", "drug/N", (1, 1, 1)),
    ("drug", "medicine/N", (0.9, 0.1, 0.5)),
    ("drug", "painkiller/N", (0.2, 0.0, 0.8)),
    ("drug", "illegal/J", (0.0, 0.9, 0.1)),
    ("drug", "dangerous/J", (0.0, 0.7, 0.2)),
    ("drug", "cheap/J", (0.7, 0.1, 0.3)),
    ("book", "book/N", (1, 1, 1)),
    ("book", "novel/N", (0.9, 0.1, 0.1)),
    ("book", "biography/N", (0.0, 0.8, 0.1)),
    ("book", "popular/J", (0.7, 0.2, 0.1)),
    ("book", "cheap/J", (0.1, 0.2, 0.7)),
    ("film", "film/N", (1, 1, 1)),
    ("film", "comedy/N", (0.9, 0.0, 0.2)),
    ("film", "thriller/N", (0.0, 0.9, 0.2)),
    ("film", "violent/J", (0.0, 0.8, 0.3)),
    ("film", "popular/J", (0.6, 0.5, 0.1)),
    ("food", "food/N", (1, 1, 1)),
    ("food", "delicacy/N", (0.8, 0.1, 0.0)),
    ("food", "ingredient/N", (0.0, 0.3, 0.8)),
    ("food", "cheap/J", (0.0, 0.2, 0.8)),
    ("food", "healthy/J", (0.1, 0.8, 0.4)),
    ("animal", "animal/N", (1, 1, 1)),
    ("animal", "dog/N", (1, 0, 0)),
    ("animal", "cat/N", (0, 1, 0)),
    ("animal", "horse/N", (0, 0, 1)),
    ("animal", "young/J", (0.2, 0.6, 0.2)),
    ("animal", "dangerous/J", (0.8, 0.1, 0.2)),
    ("instrument", "instrument/N", (1, 1, 1)),
    ("instrument", "popular/J", (0.9, 0.1, 0.1)),
    ("place", "place/N", (1, 1, 1)),
    ("place", "dangerous/J", (0.1, 0.9, 0.1)),
)


class Frame(NamedTuple):
    """Who does what to whom: the fields of a word with the kinds that fill them.

    `likely` holds one digit a role, the groups that go together; `density` is the share of those pairs that are facts.
    Where the kinds of two roles are the same, the groups form a chain, so that only the role tells who is who.
    """

    word: str
    roles: tuple[tuple[str, str], ...]
    likely: tuple[str, ...]
    density: float


def _frame(word: str, roles: str, likely: str, density: float) -> Frame:
    pairs = tuple((field, kind) for field, _, kind in (role.partition(":") for role in roles.split()))
    return Frame(word, pairs, tuple(likely.split()), density)


FRAMES = (
    _frame("ban/V", "SUBJ:country COMP:drug", "01 12", 0.6),
    _frame("ban/V", "SUBJ:country COMP:film", "01 22", 0.6),
    _frame("ban/V", "SUBJ:country COMP:book", "20", 0.5),
    _frame("sell/V", "SUBJ:company COMP:drug", "10 22", 0.6),
    _frame("sell/V", "SUBJ:company COMP:book", "00 01", 0.5),
    _frame("sell/V", "SUBJ:company COMP:food in:country", "202 210", 0.5),
    _frame("produce/V", "SUBJ:company COMP:film", "00 12", 0.5),
    _frame("produce/V", "SUBJ:company COMP:food", "11 22", 0.5),
    _frame("buy/V", "SUBJ:company COMP:company", "01 12", 0.6),
    _frame("buy/V", "SUBJ:person COMP:food", "02 20", 0.4),
    _frame("sue/V", "SUBJ:company COMP:company", "10 20", 0.5),
    _frame("hire/V", "SUBJ:company COMP:person", "02 11", 0.3),
    _frame("work/V", "SUBJ:person for:company", "00 11 22", 0.25),
    _frame("write/V", "SUBJ:person COMP:book", "10 11", 0.3),
    _frame("write/V", "SUBJ:person about:country", "10 12", 0.3),
    _frame("read/V", "SUBJ:person COMP:book", "02 20", 0.3),
    _frame("watch/V", "SUBJ:person COMP:film", "10 21", 0.3),
    _frame("teach/V", "SUBJ:person COMP:person", "01 12", 0.3),
    _frame("admire/V", "SUBJ:person COMP:person", "10 21", 0.2),
    _frame("visit/V", "SUBJ:person COMP:city", "02 11", 0.2),
    _frame("live/V", "SUBJ:person in:city", "00 12 21", 0.12),
    _frame("travel/V", "SUBJ:person from:city to:country", "101 202", 0.2),
    _frame("play/V", "SUBJ:person COMP:instrument", "00 12 21", 0.4),
    _frame("play/V", "SUBJ:animal on:place", "00 12", 0.7),
    _frame("eat/V", "SUBJ:animal COMP:food", "00 12", 0.6),
    _frame("chase/V", "SUBJ:animal COMP:animal", "01 12", 0.6),
    _frame("invade/V", "SUBJ:country COMP:country", "01 12", 0.6),
    _frame("import/V", "SUBJ:country COMP:food from:country", "001 120", 0.6),
    _frame("friend/N", "ARG:person 's:person", "00 12", 0.12),
    _frame("pet/N", "ARG:animal 's:person", "01 12 20", 0.12),
    _frame("citizen/N", "ARG:person of:country", "00 11 22", 0.15),
    _frame("owner/N", "ARG:person of:company", "01 12", 0.15),
)
NOISE = 0.1  # facts against the preferences, for every fact in line with them

# lemma: third person, past, past participle, present participle
VERBS = {
    lemma: tuple(forms)
    for lemma, *forms in (
        line.split()
        for line in (
            "ban bans banned banned banning",
            "sell sells sold sold selling",
            "produce produces produced produced producing",
            "buy buys bought bought buying",
            "sue sues sued sued suing",
            "hire hires hired hired hiring",
            "work works worked worked working",
            "write writes wrote written writing",
            "read reads read read reading",
            "watch watches watched watched watching",
            "teach teaches taught taught teaching",
            "admire admires admired admired admiring",
            "visit visits visited visited visiting",
            "live lives lived lived living",
            "lie lies lay lain lying",
            "travel travels traveled traveled traveling",
            "play plays played played playing",
            "eat eats ate eaten eating",
            "chase chases chased chased chasing",
            "invade invades invaded invaded invading",
            "import imports imported imported importing",
        )
    )
}
TENSES = ("present", "past", "perfect")
TIMELESS = ("lie",)  # verbs that stay in the present
IRREGULAR_PLURALS = {"man": "men", "woman": "women"}
