"""The claims page: what the paper claims, what we found, and what that decides."""

from fallow.study.claims import Claim
from fallow.study.results import LATE
from fallow.study.sensitivity import Variant


def claims_page(
    claims: list[Claim], scale: str, seeds: int, done: int, total: int, variants: list[tuple[Variant, list[str]]]
) -> str:
    """Returns the page as Markdown.

    Args:
        claims: With their verdicts.
        scale: Of the study.
        seeds: Of each cell.
        done: Finished runs of the grid.
        total: Runs of the grid.
        variants: Other readings, and what each changes.
    """
    lines = [
        "# What holds of the paper's claims",
        "",
        f"Scale `{scale}`, {seeds} seeds, {done} of {total} runs finished. Differences are paired: both policies met "
        "the same harvest and the same data. Square brackets hold 95 % intervals over seeds (Student's t). A claim "
        "holds if every difference it speaks of is surely on its side, does not hold if one surely is not, and is not "
        "decided otherwise. "
        f"F1 is the mean over the evaluations in the last {LATE:.0%} of the epochs.",
        "",
    ]
    if scale != "full":
        lines += [f"**This is scale `{scale}`, not the paper's: its verdicts speak of this scale alone.**", ""]
    lines += ["| claim | verdict |", "|---|---|"]
    lines += [f"| {claim.text} | **{claim.verdict}** |" for claim in claims]
    for number, claim in enumerate(claims, start=1):
        lines += ["", f"## {number}. {claim.text}", "", f"**{claim.verdict.capitalize()}.**", ""]
        lines += [f"- {line}" for line in claim.evidence]
    lines += ["", "## Figures", ""]
    for name, title in (
        ("f1", "F1 score over epochs"),
        ("version-age", "Average version age"),
        ("energy", "Energy, α = 0.1"),
    ):
        lines += [f"![{title}](figures/{name}.png)", ""]
    if variants:
        lines += ["## Under other readings", "", "α = 0.1, p_bc = 0.1; what a reading changes against the default.", ""]
        lines += ["| reading | policy | F1 | units | mean age |", "|---|---|---|---|---|"]
        lines += [f"| {variant.title} | {variant.policy} | {' | '.join(cells)} |" for variant, cells in variants]
    return "\n".join(lines).rstrip() + "\n"
