"""The one exception people see."""


class ForedraftError(Exception):
    """What is wrong, why, and how to mend it, in one sentence meant for a person.

    Raised for every bad input or unusable file; the command line prints it alone and exits with 2.
    """
