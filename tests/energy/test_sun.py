"""The sun against the textbook, at three latitudes: Padova, Kiruna and Quito."""

from datetime import UTC, datetime

import numpy as np
import pytest

from fallow.energy import Scale, Solar
from fallow.energy.sun import ClearSky, Orientation, Place, position

pytest.importorskip("pvlib")

PADOVA, KIRUNA, QUITO = Place(45.41, 11.88), Place(67.86, 20.23), Place(-0.18, -78.47)
# The declination of the sun, published for the moments of these solstices and equinoxes.
DAYS = {"2025-03-20": 0.0, "2025-06-21": 23.44, "2025-12-21": -23.44}


def minutes_of(day: str, place: Place) -> np.ndarray:
    """The minutes of the local solar day, so that noon and both twilights are within."""
    shift = np.timedelta64(round(-place.longitude * 240), "s")
    return np.datetime64(day, "s") + shift + np.arange(1440).astype("m8[m]")


def textbook_hours(latitude: float, declination: float) -> float:
    """Hours from sunrise to sunset: the upper edge of the disk on the horizon, with refraction, is at −0.833°."""
    phi, delta = np.radians(latitude), np.radians(declination)
    cosine = (np.sin(np.radians(-0.833)) - np.sin(phi) * np.sin(delta)) / (np.cos(phi) * np.cos(delta))
    return 24 / np.pi * float(np.arccos(np.clip(cosine, -1, 1)))


@pytest.mark.parametrize("place", [PADOVA, KIRUNA, QUITO], ids=["Padova", "Kiruna", "Quito"])
@pytest.mark.parametrize(("day", "declination"), DAYS.items())
def test_the_noon_sun_stands_at_90_degrees_less_the_distance_of_latitude_and_declination(place, day, declination):
    elevation, _ = position(place, minutes_of(day, place))
    textbook = 90 - abs(place.latitude - declination)
    # At the equinox the declination passes 0.4° in a day; near the horizon refraction lifts the sun by up to 0.6°.
    assert elevation.max() == pytest.approx(textbook, abs=0.35 if textbook > 5 else 0.65)


@pytest.mark.parametrize("place", [PADOVA, KIRUNA, QUITO], ids=["Padova", "Kiruna", "Quito"])
@pytest.mark.parametrize(("day", "declination"), DAYS.items())
def test_the_day_has_the_length_of_the_textbook_within_six_minutes(place, day, declination):
    elevation, _ = position(place, minutes_of(day, place))
    # The elevation is that of the disk's middle with refraction, so its edge is up from −0.267°.
    assert np.count_nonzero(elevation > -0.267) / 60 == pytest.approx(
        textbook_hours(place.latitude, declination), abs=0.1
    )


@pytest.mark.parametrize(
    ("latitude", "day", "hours", "noon"),
    [
        (-0.25, "2010-06-21", 12 + 6 / 60 + 32 / 3600, 66.3),  # Quito
        (-0.25, "2010-12-21", 12 + 8 / 60 + 18 / 3600, 66.8),
        (69.7, "2010-06-21", 24.0, 43.8),  # Tromsø
        (69.7, "2010-12-22", 0.0, None),
    ],
)
def test_days_and_noons_are_those_of_a_published_table(latitude, day, hours, noon):
    elevation, _ = position(Place(latitude, 0.0), minutes_of(day, Place(latitude, 0.0)))
    assert np.count_nonzero(elevation > -0.267) / 60 == pytest.approx(hours, abs=3 / 60)
    if noon is not None:
        assert elevation.max() == pytest.approx(noon, abs=0.1)


def test_the_sun_stands_in_the_south_of_padova_and_in_the_north_of_quito_in_june():
    for place, azimuth in ((PADOVA, 180), (QUITO, 0)):
        elevation, azimuths = position(place, minutes_of("2025-06-21", place))
        at_noon = azimuths[elevation.argmax()]
        assert abs((at_noon - azimuth + 180) % 360 - 180) < 1


def joules_of_days(place: Place, start: datetime, days: int, tilt: float = 0.0) -> np.ndarray:
    sky = ClearSky(place, Orientation(tilt, 180.0), start)
    return np.diff(sky.joules(np.arange(days + 1) * 86_400.0))


def test_kiruna_has_a_polar_night_and_a_polar_day():
    night = joules_of_days(KIRUNA, datetime(2025, 12, 18, tzinfo=UTC), 7)
    assert night.tolist() == [0.0] * 7
    sky = ClearSky(KIRUNA, Orientation(0.0, 180.0), datetime(2025, 6, 21, tzinfo=UTC))
    hours = np.diff(sky.joules(np.arange(25) * 3600.0))
    assert hours.min() > 0


def test_both_poles_are_places():
    for latitude in (-90.0, 90.0):
        summer = datetime(2025, 6 if latitude > 0 else 12, 21, tzinfo=UTC)
        assert joules_of_days(Place(latitude, 180.0), summer, 1)[0] > 1e6


def test_a_clear_day_in_june_brings_what_pvlib_sums_up_in_steps_of_ten_seconds():
    start = datetime(2025, 6, 21, tzinfo=UTC)
    sky = ClearSky(PADOVA, Orientation(30.0, 180.0), start)
    fine = sky.watts(np.datetime64("2025-06-21T00:00:05", "s") + (np.arange(8640) * 10).astype("m8[s]")).sum() * 10
    assert sky.joules(np.array([86_400.0]))[0] == pytest.approx(fine, rel=1e-4)
    assert 7.5 < fine / 3.6e6 < 9.0  # kWh a square metre


def test_energy_does_not_depend_on_how_time_is_cut_and_never_falls():
    sky = ClearSky(PADOVA, Orientation(30.0, 180.0), datetime(2025, 3, 1, 5, 7, 11, tzinfo=UTC))
    edges = np.sort(np.random.default_rng(1).random(5000)) * 40 * 86_400
    parts = sky.joules(np.concatenate([[0.0], edges]))
    assert (np.diff(parts) >= 0).all()
    again = ClearSky(sky.place, sky.orientation, sky.start)
    assert again.joules(edges[-1:])[0] == parts[-1]  # asked alone, without those before
    assert again.joules(edges[:1])[0] == parts[1]


def test_29_february_has_its_own_sun():
    year = joules_of_days(PADOVA, datetime(2024, 2, 27, tzinfo=UTC), 4)
    assert (np.diff(year) > 0).all()  # spring comes on, day by day
    assert np.diff(year).max() < 1.3 * np.diff(year).min()


def test_a_start_in_summer_time_is_two_hours_before_utc():
    local = Solar(start="2025-06-21T12:00", timezone="Europe/Rome", depth=0.0).at_scale(Scale(3600, 1.0))
    utc = Solar(start="2025-06-21T10:00Z", depth=0.0).at_scale(Scale(3600, 1.0))
    assert np.array_equal(local.totals(np.arange(9)), utc.totals(np.arange(9)))


def test_the_night_of_the_clock_change_has_no_seam():
    # 24 hours from midnight on 30 March, which has 23: the run's clock goes on in real seconds.
    local = Solar(start="2025-03-30", timezone="Europe/Rome", depth=0.0).at_scale(Scale(3600, 1.0))
    later = Solar(start="2025-03-31", timezone="Europe/Rome", depth=0.0).at_scale(Scale(3600, 1.0))
    first, second = (np.diff(model.totals(np.arange(48))[:, 0]) for model in (local, later))
    assert np.allclose(first[23:47], second[:24], rtol=1e-6, atol=1.0)
