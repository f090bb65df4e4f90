"""stub"""


def redacted_properties(p):
    return dict(p)
