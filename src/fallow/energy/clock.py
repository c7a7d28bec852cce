"""Moments and time zones as settings hold them, for sources of energy that follow a clock."""

from datetime import UTC, datetime, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from fallow.errors import ConfigError
from fallow.plugins.wording import nearest

DAY_SECONDS = 86_400.0
"""Seconds of a day."""

YEAR_SECONDS = 365 * DAY_SECONDS
"""Seconds of a year without a leap day, over which the mean of the sun is taken."""


def parse_zone(setting: str, text: str) -> tzinfo:
    """Returns a time zone.

    Args:
        setting: The setting that holds it, for the error sentence.
        text: A name such as ``Europe/Rome``, ``UTC``, or an offset such as ``+01:00``.

    Raises:
        ConfigError: There is no such zone.

    Examples:
        >>> parse_zone("energy.timezone", "+01:00").utcoffset(None)
        datetime.timedelta(seconds=3600)
    """
    if text.upper() in ("UTC", "Z"):
        return UTC
    if text[:1] in ("+", "-"):
        try:
            offset = datetime.fromisoformat(f"2000-01-01T00:00{text}").utcoffset()
        except ValueError:
            offset = None
        if offset is not None:
            return timezone(offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError is for a folder of the zones' files, as in "Europe"
        near = nearest(text, available_timezones())
        raise ConfigError(
            f"{setting} = '{text}' is no time zone; "
            + (
                f"did you mean '{near}'?"
                if near
                else "write a name such as Europe/Rome, UTC, or an offset as in +01:00."
            )
        ) from None


def parse_moment(setting: str, text: str, zone: tzinfo) -> datetime:
    """Returns a moment, in UTC.

    Args:
        setting: The setting that holds it, for the error sentence.
        text: A date, or a date and a time, with or without an offset, as in ``2025-06-21T12:00+02:00``.
        zone: The zone of a text without offset. Of an hour that a clock shows twice, the first is meant.

    Raises:
        ConfigError: The text is no moment.

    Examples:
        >>> parse_moment("energy.start", "2025-06-21", parse_zone("energy.timezone", "Europe/Rome")).isoformat()
        '2025-06-20T22:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text)
        placed = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        return placed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{setting} = '{text}' is no date and time; write it as in 2025-06-21 or 2025-06-21T12:00+02:00."
        ) from None


def duration_in_words(seconds: float) -> str:
    """Returns a length of time in words.

    Args:
        seconds: Its length.

    Examples:
        >>> duration_in_words(90), duration_in_words(7200), duration_in_words(86400 * 3.5)
        ('1.5 min', '2 h', '3.5 d')
    """
    for unit, length in (("d", DAY_SECONDS), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{round(seconds / length, 1):g} {unit}"
    return f"{round(seconds, 3):g} s"
