"""The page in a browser: what is drawn, what filters do and the keyboard reaches, and that nothing is asked for."""

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fallow.reports import write_report
from tests.reports.made_runs import live, make_up
from tests.reports.test_ages import without

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is not installed"),
]

QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
CHARTS = ("f1-epochs", "f1-energy", "clients", "age", "energy", "day", "outage", "share", "timeline", "ages", "mix")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two policies, two seeds and two p, with learning."""
    folder = tmp_path_factory.mktemp("runs")
    for policy in ("vaoi", "fedavg"):
        for seed in (1, 2):
            for p in (0.4, 0.8):
                where = folder / f"{policy}-{seed}-{p}"
                given: dict[str, Any] = {"learning__mode": "train", "learning__eval_every": 2, "epochs": 8}
                given |= {"slot_seconds": 1800.0, "unit_joules": 0.01}
                live(where, policy__name=policy, seed=seed, energy__p=p, compute__strategy="stacked", **given)
    return write_report([folder], tmp_path_factory.mktemp("report")).page


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield browser
    browser.quit()


@pytest.fixture
def browser(driver: Any, page: Path) -> Any:
    show(driver, page)
    return driver


def show(driver: Any, page: Path, width: int = 1280, theme: str = "light", charts: tuple[str, ...] = CHARTS) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(page.as_uri())
    wait(driver, lambda: driver.execute_script("return document.documentElement.dataset.ready === 'true'"))
    wait(driver, lambda: all(drawn(driver, chart) for chart in charts))


def wait(driver: Any, condition: Any) -> None:
    WebDriverWait(driver, 20).until(lambda _: condition())


def drawn(browser: Any, chart: str) -> int:
    """How many shapes a chart has."""
    shapes = "path.line, g.bar rect, image, g.client rect"
    return int(browser.execute_script(f"return document.querySelectorAll('#{chart} svg.chart :is({shapes})').length"))


def box(browser: Any, key: str, value: str) -> Any:
    return browser.find_element(By.CSS_SELECTOR, f'#filters input[name="{key}"][value="{value}"]')


def test_there_is_no_error_and_no_request(browser: Any, page: Path) -> None:
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    assert {url for url in sent if not url.startswith("data:")} == {page.as_uri()}


def test_every_chart_is_drawn_with_names_for_its_axes(browser: Any) -> None:
    assert all(drawn(browser, chart) for chart in CHARTS)
    for chart in ("f1-epochs", "f1-energy", "clients", "age", "share", "ages", "mix"):
        assert len(browser.find_elements(By.CSS_SELECTOR, f"#{chart} svg.chart text.title")) >= 2
    assert len(browser.find_elements(By.CSS_SELECTOR, "#f1-epochs .panel")) == 2
    assert drawn(browser, "f1-epochs") == 4


def test_filters_change_what_every_chart_shows(browser: Any) -> None:
    box(browser, "line", "fedavg").click()
    wait(browser, lambda: drawn(browser, "f1-epochs") == 2)
    assert browser.find_element(By.ID, "shown").text == "4 of 8 runs"
    assert [drawn(browser, chart) for chart in ("f1-energy", "clients", "age", "share")] == [2, 2, 2, 2]
    assert "fedavg" not in browser.find_element(By.ID, "charts").text
    box(browser, "energy.p", "0.8").click()
    wait(browser, lambda: drawn(browser, "f1-epochs") == 1)
    assert browser.find_elements(By.CSS_SELECTOR, "#age .band")
    box(browser, "seed", "2").click()
    wait(browser, lambda: browser.find_element(By.ID, "shown").text == "1 of 8 runs")
    assert not browser.find_elements(By.CSS_SELECTOR, "#age .band")
    box(browser, "data.alpha", "0.1").click()
    assert browser.find_element(By.ID, "nothing").is_displayed()
    browser.find_element(By.ID, "reset").click()
    wait(browser, lambda: drawn(browser, "f1-epochs") == 4)


def test_the_age_can_be_that_of_selection(browser: Any) -> None:
    line = "return document.querySelector('#age path.line')?.getAttribute('d')"  # none while it is being drawn
    before = browser.execute_script(line)
    browser.find_element(By.CSS_SELECTOR, 'input[name="age-kind"][value="selected"]').click()
    wait(browser, lambda: browser.execute_script(line) not in (None, before))


def test_the_keyboard_reaches_everything_and_reads_values(browser: Any) -> None:
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the charts"
    reached = []
    for _ in range(80):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(
            browser.execute_script("const e = document.activeElement; return e.id || e.name || e.getAttribute('class')")
        )
    assert {"theme", "line", "seed", "reset", "chart", "bar", "inside-run", "client"} <= set(reached)
    chart = browser.find_element(By.CSS_SELECTOR, "#f1-epochs svg.chart")
    browser.execute_script("arguments[0].focus()", chart)
    assert browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    chart.send_keys(Keys.ARROW_RIGHT)
    tip = browser.find_element(By.ID, "tip")
    assert tip.text.startswith("Epoch 1\nvaoi")
    chart.send_keys(Keys.END)
    assert tip.text.startswith("Epoch 7\n")
    chart.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()


def test_energy_is_told_in_joules_and_watts_where_units_and_slots_have_them(browser: Any) -> None:
    assert "A unit is 10 mJ." in browser.find_element(By.ID, "energy").text
    title = browser.find_elements(By.CSS_SELECTOR, "#day svg.chart text.title")[1]
    assert title.text.startswith("harvest (µW)")
    assert "The run spans 5 days, so there is no course of a year." in browser.find_element(By.ID, "time-hints").text
    browser.find_element(By.CSS_SELECTOR, 'input[name="course-day"][value="charge"]').click()
    wait(browser, lambda: "state of charge (%)" in browser.find_element(By.ID, "day").get_attribute("textContent"))
    client = browser.find_element(By.CSS_SELECTOR, "#timeline g.client")
    client.send_keys(Keys.END)
    assert "mJ" in browser.find_element(By.ID, "tip").text


def test_a_checkbox_works_by_the_space_bar(browser: Any) -> None:
    box(browser, "seed", "1").send_keys(Keys.SPACE)
    wait(browser, lambda: browser.find_element(By.ID, "shown").text == "4 of 8 runs")


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_has_its_numbers_as_a_table(browser: Any, chart: str) -> None:
    browser.find_element(By.CSS_SELECTOR, f"#{chart} details.more summary").send_keys(Keys.ENTER)
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, f"#{chart} tbody tr")) > 1)


def test_every_control_and_picture_has_a_name(browser: Any) -> None:
    unnamed = """return [...document.querySelectorAll('input, select, button, [tabindex="0"]')]
        .filter(e => !(e.labels?.[0]?.textContent || e.getAttribute('aria-label') || e.textContent).trim()).length"""
    assert browser.execute_script(unnamed) == 0
    levels = "return [...document.querySelectorAll('h1, h2, h3, h4')].map(e => Number(e.tagName[1]))"
    found = browser.execute_script(levels)
    assert all(later - earlier <= 1 for earlier, later in pairwise(found))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_scrolls_no_page_sideways(driver: Any, page: Path, theme: str) -> None:
    show(driver, page, width=375, theme=theme)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 375
    assert driver.execute_script("return document.documentElement.dataset.theme") == theme
    driver.find_element(By.CSS_SELECTOR, "#filter-box summary").click()
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 375


def test_a_nasty_name_is_shown_as_it_is_written(driver: Any, tmp_path: Path) -> None:
    nasty = "</script><img src=x onerror=alert(1)>"
    make_up(tmp_path / "runs" / "nasty", policy=nasty, epochs=20)
    report = write_report([tmp_path / "runs"], tmp_path / "out").page
    driver.get_log("browser")
    driver.get(report.as_uri())
    wait(driver, lambda: drawn(driver, "f1-epochs") == 1)
    assert nasty in driver.find_element(By.ID, "overview").text
    assert driver.find_elements(By.TAG_NAME, "img") == []
    assert driver.get_log("browser") == []


def test_the_age_map_is_of_version_ages(browser: Any) -> None:
    assert browser.find_element(By.CSS_SELECTOR, "#ages h3").text == "Version age of each client"
    chart = browser.find_element(By.CSS_SELECTOR, "#ages svg.chart")
    browser.execute_script("arguments[0].focus()", chart)
    chart.send_keys(Keys.ARROW_RIGHT)
    assert browser.find_element(By.ID, "tip").text == "client 0, epoch 0\nversion age\n1 epoch"


def test_a_run_whose_events_do_not_tell_the_ages_says_so(driver: Any, tmp_path: Path) -> None:
    without(live(tmp_path / "runs" / "old", learning__significance=0.5, epochs=12), "keep")
    report = write_report([tmp_path / "runs"], tmp_path / "out").page
    driver.get(report.as_uri())
    wait(driver, lambda: drawn(driver, "ages"))
    words = driver.find_element(By.ID, "ages").text
    assert words.startswith("Epochs since the last update received")
    assert "do not tell which changes were significant, so this is not the version age" in words


def test_the_theme_can_be_changed(browser: Any) -> None:
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(paper)
    browser.find_element(By.ID, "theme").click()
    assert browser.execute_script(paper) != before
    browser.find_element(By.ID, "theme").click()
    assert browser.execute_script(paper) == before


def test_a_label_mix_of_many_cells_is_drawn(driver: Any, tmp_path: Path) -> None:
    few = {"epochs": 1, "energy__p": 0.01, "learning__mode": "train", "compute__strategy": "stacked"}
    many = {"clients": 200, "data__classes": 400, "data__samples_per_client": 4}
    live(tmp_path / "runs" / "many", data__name="synthetic", data__samples=2000, data__test_samples=20, **few, **many)
    report = write_report([tmp_path / "runs"], tmp_path / "out").page
    driver.get_log("browser")
    driver.get(report.as_uri())
    wait(driver, lambda: drawn(driver, "mix"))
    assert driver.get_log("browser") == []


def test_ages_that_were_not_measured_are_said_so(driver: Any, tmp_path: Path) -> None:
    make_up(tmp_path / "runs" / "without", policy="fedavg", epochs=10, ages=False)
    show(driver, write_report([tmp_path / "runs"], tmp_path / "one").page, charts=("energy",))
    assert "Version ages were not measured in these runs." in driver.find_element(By.ID, "age").text
    assert "not measured" in driver.find_element(By.ID, "overview").text
    make_up(tmp_path / "runs" / "with", epochs=10)
    show(driver, write_report([tmp_path / "runs"], tmp_path / "two").page, charts=("energy", "age"))
    assert "Left out, since not measured: 1 run." in driver.find_element(By.ID, "age").text
    assert not driver.get_log("browser")


def test_a_target_says_what_half_of_the_runs_needed_and_how_many_got_there(driver: Any, tmp_path: Path) -> None:
    for seed, epochs in enumerate([200, 200, 10]):
        make_up(tmp_path / "runs" / f"vaoi-{seed}", seed=seed, epochs=epochs)
    runs = [tmp_path / "runs" / name for name in ("vaoi-0", "vaoi-1")]
    show(driver, write_report(runs, tmp_path / "both", target=0.5).page, charts=("energy",))
    words = driver.find_element(By.ID, "overview").text
    assert "units to F1 0.5" in words
    assert "reached by 2 of 2" in words
    assert "until at least half of the runs had reached it" in driver.find_element(By.ID, "target-hint").text
    short = [tmp_path / "runs" / "vaoi-2"]
    show(driver, write_report(short, tmp_path / "none", target=0.5).page, charts=("energy",))
    words = driver.find_element(By.ID, "overview").text
    assert "never" in words
    assert "reached by 0 of 1" in words
    show(driver, write_report(short, tmp_path / "plain").page, charts=("energy",))
    assert "reached by" not in driver.find_element(By.ID, "overview").text
    assert not driver.find_element(By.ID, "target-hint").is_displayed()
    assert not driver.find_element(By.ID, "clients-section").is_displayed()
    assert not driver.get_log("browser")
