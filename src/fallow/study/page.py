"""The claims page: what the paper claims, what we found, and what that decides."""

from collections.abc import Mapping

from fallow.study.grid import RULES
from fallow.study.outcomes import Cell, Outcomes, Results
from fallow.study.results import LATE
from fallow.study.sensitivity import Varied, variants_page
from fallow.study.verdicts import SURE, Judgement

FIGURES = (("f1", "F1 score over epochs"), ("version-age", "Average version age"), ("energy", "Energy, α = 0.1"))


def claims_page(
    judgement: Judgement,
    outcomes: Mapping[str, Outcomes],
    scale: str | None,
    varied: Varied | None = None,
) -> str:
    """Returns the page as Markdown.

    Args:
        judgement: The claims with their verdicts.
        outcomes: What runs came to, by rule.
        scale: Of the study; None where it is not known.
        varied: What runs under other readings came to.
    """
    runs = " and ".join(f"{len(own.runs)} {RULES[rule].title}" for rule, own in outcomes.items())
    lines = [
        "# What holds of the paper's claims",
        "",
        f"Finished runs: {runs}. Differences are paired: both policies met the same harvest and the same data. Square "
        "brackets hold 95 % intervals over seeds (Student's t). A claim holds if every difference it speaks of is "
        "surely on its side, does not hold if one surely is not, and is not decided otherwise. There are "
        f"{judgement.comparisons} comparisons over two seeds or more, which are many chances; surely means a chance "
        f"below {SURE:.0%} after Holm's correction for all of them. Claims with a tolerance are decided by the "
        f"interval alone. F1 is the mean over the evaluations in the last {LATE:.0%} of the epochs.",
        "",
    ]
    if scale not in ("full", None):
        lines += [f"**This is scale `{scale}`, not the paper's: its verdicts speak of this scale alone.**", ""]
    lines += verdict_table(judgement)
    for rule in judgement.claims:
        lines += ["", f"## {RULES[rule].title.capitalize()}", "", *cell_table(judgement, rule)]
        lines += ["", *seeds_table(outcomes[rule].runs), ""]
        for claim in judgement.claims[rule]:
            lines += [
                f"**{claim.text}** {claim.verdict.capitalize()}.",
                "",
                *(f"- {line}" for line in claim.evidence),
                "",
            ]
        lines += [line for name, title in FIGURES for line in (f"![{title}](figures/{rule}/{name}.png)", "")]
    lines += variants_page(varied or {}, outcomes["paper"].runs if "paper" in outcomes else {})
    return "\n".join(lines).rstrip() + "\n"


def verdict_table(judgement: Judgement) -> list[str]:
    """Returns the verdicts, a row for each claim and a column for each rule, as a table in Markdown.

    Args:
        judgement: The claims with their verdicts.
    """
    rules = list(judgement.claims)
    together = zip(*judgement.claims.values(), strict=True)
    return [
        f"| the paper says | {' | '.join(RULES[rule].title for rule in rules)} |",
        f"|---|{'---|' * len(rules)}",
        *(f"| {own[0].text} | {' | '.join(f'**{one.verdict}**' for one in own)} |" for own in together),
    ]


def cell_table(judgement: Judgement, rule: str) -> list[str]:
    """Returns the verdicts in each cell under one rule, as a table in Markdown.

    Args:
        judgement: The claims with their verdicts.
        rule: Whose.
    """
    claims = [claim for claim in judgement.claims[rule] if claim.cells]
    cells: list[Cell] = sorted({cell for claim in claims for cell in claim.cells})
    heads = [f"α = {alpha:g}, p_bc = {p:g}" for alpha, p in cells]
    return [
        f"| the paper says | {' | '.join(heads)} |",
        f"|---|{'---|' * len(cells)}",
        *(f"| {one.text} | {' | '.join(one.cells.get(cell, '–') for cell in cells)} |" for one in claims),
    ]


def seeds_table(results: Results) -> list[str]:
    """Returns how many seeds and epochs each cell has, in one line.

    Args:
        results: The finished runs under one rule.
    """
    cells = sorted({cell for cell, _, _ in results})
    words = []
    for alpha, p in cells:
        own = [(seed, one.epochs) for (cell, _, seed), one in results.items() if cell == (alpha, p)]
        seeds, epochs = {seed for seed, _ in own}, {count for _, count in own}
        words.append(f"α = {alpha:g}, p_bc = {p:g}: {len(seeds)} × {'/'.join(map(str, sorted(epochs)))}")
    return [f"Seeds × epochs: {'; '.join(words)}."]
