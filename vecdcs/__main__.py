"""python -m vecdcs"""

from vecdcs.cli import main

main()
