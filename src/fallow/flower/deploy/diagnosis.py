"""Why a SuperNode is not let in: what its own machine can find out, and the causes that are left."""

import ssl
import urllib.error
import urllib.request
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

AHEAD = 5.0
BEHIND = 305.0
"""Seconds by which Flower lets a node's clock be ahead of the SuperLink's, or behind it."""

OLD_CONNECTION = 60
"""Seconds for which the SuperLink takes a node that died for connected, and refuses another with its key."""

SECONDS = 10.0
"""How long the SuperLink has to answer."""


def why_refused(superlink: str, authority: Path) -> str:
    """Returns why the SuperLink may have refused a node, in a sentence.

    It asks the SuperLink's health page, which everybody may, what time it is.

    Args:
        superlink: Where it is, as host:port.
        authority: The certificate of the authority that signed the SuperLink's.
    """
    try:
        trusting = ssl.create_default_context(cafile=str(authority))
        with urllib.request.urlopen(f"https://{superlink}/health", timeout=SECONDS, context=trusting) as answer:
            told = answer.headers.get("Date")
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        return f"The SuperLink at {superlink} can't be reached with {authority}: {reason}."
    return in_words(clock_error(told) if told else 0.0)


def clock_error(date: str) -> float:
    """Returns by how many seconds this machine's clock is ahead of a date; below 0 if it is behind.

    Args:
        date: As HTTP writes it, in whole seconds.
    """
    return (datetime.now(UTC) - parsedate_to_datetime(date)).total_seconds()


def in_words(ahead: float) -> str:
    """Returns the likely causes of a refusal.

    Args:
        ahead: By how many seconds this machine's clock is ahead of the SuperLink's, to a second.
    """
    if ahead > AHEAD + 1 or ahead < -BEHIND:
        where = f"{ahead:.0f} seconds ahead of" if ahead > 0 else f"{-ahead:.0f} seconds behind"
        return (
            f"This machine's clock is {where} the SuperLink's, and Flower answers 401 to a node that is more than "
            f"{AHEAD:g} seconds ahead or {BEHIND:g} behind; set the clock."
        )
    return (
        "If it was refused (401): its key may not be registered (flwr supernode register), an earlier connection with "
        f"the same key may not have expired, which takes up to {OLD_CONNECTION} seconds, or its clock was more than "
        f"{AHEAD:g} seconds ahead of the SuperLink's or {BEHIND:g} behind."
    )
