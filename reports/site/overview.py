"""Overview: what needs a human today, then what can be claimed of each version, then what changed lately."""

from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.pages.charts import rate
from pytest_kmigrate.reports.pages.drawing import (
    Cell,
    amount,
    chip,
    colour,
    cut,
    folded,
    goto,
    link,
    measure_name,
    percent,
    share_bar,
    short,
    table,
    text,
)
from pytest_kmigrate.reports.site.views import NO_VERSION, Site, View, empty, fine, number_cell, section, shown
from pytest_kmigrate.reports.summary.rows import Row, began_with, count, day, kafka_of, known, listed, number, plural
from pytest_kmigrate.reports.summary.totals import Totals
from pytest_kmigrate.reports.summary.versions import safety_claim

MOST_CONCERNS = 25
_MOST_CHANGES = 6
_MOST_CHARACTERS = 420


def overview(site: Site) -> View:
    """The view that a reader meets first."""
    summary = site.summary
    totals = summary["totals"]
    explained = totals["outcomes"][Outcome.VIOLATES.name] - totals["new_violations"]
    others = [(each.name, totals["outcomes"][each.name]) for each in sorted(Outcome, reverse=True)][1:]
    shares = [(Outcome.VIOLATES.name, totals["new_violations"]), (Word.DEFECT.name, explained), *others]
    content = "".join(
        [
            f'<p class="outcome">{_outcome(totals)}</p>',
            share_bar(shares, totals["doubtful"]),
            _attention(site),
            _tiles(totals, "nights" if summary["infra_nights"] else "tests"),
            _asked(summary["asked"]),
            _versions(summary["versions"]),
            _changes(site),
        ]
    )
    lead = " · ".join(known(kafka_of(*totals["kafka"]), _days(totals)))
    return View("overview", summary["headline"], lead, content)


def _outcome(totals: Totals) -> str:
    """The worst that asks for anything: where all that is violated is known, what is open, and otherwise that."""
    outcomes = totals["outcomes"]
    if outcomes[Outcome.VIOLATES.name] and not totals["new_violations"]:
        is_open = outcomes[Outcome.INCONCLUSIVE.name] or totals["doubtful"]
        return chip(Outcome.INCONCLUSIVE.name, "INCONCLUSIVE") if is_open else chip(Word.DEFECT.name, "NOTHING NEW")
    return chip(totals["outcome"], totals["outcome"].replace("_", " "))


def _tiles(totals: Totals, silent_at: str) -> str:
    outcomes = totals["outcomes"]
    tiles = [
        ("run", totals["runs"], "", "tests"),
        ("conform", outcomes["CONFORMS"], "CONFORMS", "requirements"),
        ("new violation", totals["new_violations"], "VIOLATES", "failures"),
        ("of these safety", totals["new_safety_violations"], "SAFETY", "consistency"),
        ("inconclusive", outcomes["INCONCLUSIVE"], "INCONCLUSIVE", silent_at),
        ("flaky test", totals["flaky_tests"], "FLAKY", "flakes"),
        ("known defect", totals["known_defects"], "DEFECT", "causes"),
        ("set aside", totals["set_aside"], "INCONCLUSIVE" if totals["doubtful"] else "", "aside"),
    ]
    drawn = "".join(
        f'<a class="tile" href="#{to}"{_tint(level, number_of)}><b>{amount(number_of)}</b>'
        f"<span>{_counted_as(label, number_of)}</span></a>"
        for label, number_of, level, to in tiles
    )
    return f'<div class="tiles">{drawn}</div>'


_NOUNS = ("run", "new violation", "flaky test", "known defect")


def _counted_as(label: str, number_of: int) -> str:
    """The label of a tile, a noun in its number."""
    return plural(number_of, label).partition(" ")[2] if label in _NOUNS else label


def _asked(profiles: list[Row]) -> str:
    """How much of each profile the runs asked at all, and how that stands."""
    return "".join(_asked_of(row, f" of {text(row['profile'])}" * (len(profiles) > 1)) for row in profiles)


_HOW_ASKED = {
    Word.VIOLATION: "violated by something new",
    Word.DEFECT: "with a known defect",
    Word.DEPARTURE: "with a departure",
    Word.REMARK: "with a remark",
    Word.INCONCLUSIVE: "inconclusive",
    Word.CONFORMS: "conform",
    Word.NOT_APPLICABLE: "do not apply",
}


def _asked_of(row: Row, profile: str) -> str:
    unasked = count(row["requirements"]) - count(row["asked"])
    shares = [(word.name, count(row[word.name.lower()])) for word in _HOW_ASKED]
    reported = [f"{amount(of)} {how}" for (_, of), how in zip(shares, _HOW_ASKED.values(), strict=True) if of]
    reported += [f"{amount(unasked)} not asked"] if unasked else []
    share = f"<b>{amount(row['asked'])} of {amount(row['requirements'])}</b>"
    asked = f"{share} requirements{profile} were asked"
    return (
        f'<div class="asked">{goto("requirements", asked)}: {", ".join(reported)}'
        f"{share_bar([*shares, ('UNASKED', unasked)])}</div>"
    )


def _tint(level: str, shown: int) -> str:
    """A zero stays grey: colour is for what is there."""
    if not shown:
        return f' style="--colour: {colour("NOT_APPLICABLE")}"'
    return f' style="--colour: {colour(level)}"' if level else ""


def _attention(site: Site) -> str:
    concerns = site.summary["attention"]
    if not concerns:
        return section("Needs a human", fine("Nothing. Every test that gave an answer conforms."))
    if all(each["level"] == "DEPARTURE" for each in concerns):
        folded_ones = "".join(_concern(site, each) for each in concerns)
        return section("Needs a human", fine("Nothing: no defect and no new violation was met.") + folded_ones)
    drawn = "".join(_concern(site, each) for each in concerns[:MOST_CONCERNS])
    left = len(concerns) - MOST_CONCERNS
    more = f'<p class="soft rest">{amount(left)} less urgent in <a href="report.json">report.json</a>.</p>'
    return section("Needs a human", drawn + (more if left > 0 else ""), "Most urgent first.")


def _concern(site: Site, row: Row) -> str:
    check = f"<code>{text(row['check'])}</code>: " if row["check"] else ""
    title = _title(site, row)
    if row.get("members"):
        members = "".join(f"<li>{text(each)}</li>" for each in listed(row["members"]))
        lead = f"{title}, {text(row['detail'])}"
        return f'<div class="soft rest">{folded(lead, f"<ul>{members}</ul>")}</div>'
    reported = f"<p>{check}{text(cut(row['example'], _MOST_CHARACTERS))}</p>" if row["example"] else ""
    if row.get("tests"):
        reported += folded(plural(len(listed(row["tests"])), "test"), ", ".join(map(short, listed(row["tests"]))))
    return (
        f'<article class="concern" style="--colour: {colour(row["level"])}"><header>{chip(row["level"])}'
        f'<h3>{title}</h3><span class="soft small">{text(row["condition"])}</span></header>'
        f'<p class="soft">{text(row["detail"])}</p>{reported}{_ways_on(row)}</article>'
    )


def _title(site: Site, row: Row) -> str:
    if row.get("cluster"):
        return site.about("cluster", row["cluster"], short(row["title"]))
    return site.about("test", row["test_id"], short(row["title"])) if row["test_id"] else short(row["title"])


def _ways_on(row: Row) -> str:
    """Where to look next: a run that shows it, and how to see it happen again."""
    latest = link(row["timeline"], "Timeline of the latest such run") if row["timeline"] else ""
    again = folded("Run it again", f"<pre>{text(row['reproduce'])}</pre>") if row["reproduce"] else ""
    return f'<footer><span class="small">{latest}</span>{again}</footer>' if latest or again else ""


def _versions(versions: list[Row]) -> str:
    """What can be claimed of each version, and how surely."""
    heads = ("Kafka", "Runs", "Violating runs, 95 % interval", "Safety", "Inconclusive", "Operations checked")
    rows = [
        [
            Cell(f"<b>{shown(row['kafka']) or NO_VERSION}</b>", place, "name"),
            number_cell(row["runs"]),
            Cell(rate(row["rate"], row["rate_low"], row["rate_high"], "VIOLATES"), number(row["rate"]), "rate"),
            Cell(chip("SAFETY", claim) if row["safety_violations"] else text(claim), row["safety_violations"]),
            number_cell(row["inconclusive"]),
            number_cell(row["operations"]),
        ]
        for place, (row, claim) in enumerate((each, safety_claim(each)) for each in versions)
    ]
    lead = (
        "What the runs entitle one to say of each version: runs that met known defects or departures count as "
        "violating, inconclusive ones do not count."
    )
    return section("Versions", table(heads, rows) if rows else empty("No run recorded its version."), lead)


def _changes(site: Site) -> str:
    """The newest change points, of rates and of measures."""
    flips = [(str(each["since_at"]), _flip(site, each)) for each in site.summary["change_points"]]
    moved = [(str(each["since_at"]), _moved(site, each)) for each in site.summary["trend_changes"]]
    newest = sorted(flips + moved, reverse=True)[:_MOST_CHANGES]
    if not newest:
        return ""
    listed = "".join(f"<li>{reported}</li>" for _, reported in newest)
    return section("Changed lately", f"<ul>{listed}</ul>", "Found by change point, not by threshold.")


def _flip(site: Site, change: Row) -> str:
    before, after = number(change["rate_before"]) or 0.0, number(change["rate_after"]) or 0.0
    name = site.about("test", change["test_id"], short(change["test_id"]))
    reported = " · ".join(known(site.cluster(change), change["fault"], began_with(change)))
    return (
        f"{day(change['since_at'])}: {name} violates in {percent(after)} of its runs, before in {percent(before)} "
        f'<span class="soft small">{text(reported)}</span>'
    )


def _moved(site: Site, change: Row) -> str:
    ratio = number(change["ratio"])
    times = "" if ratio is None else f", {ratio:.2f} times what it was"
    measure = goto("trends", f"{text(change['name'])} ({text(measure_name(change['measure']))})")
    return (
        f"{day(change['since_at'])}: {measure} got {'worse' if change['direction'] == 'WORSE' else 'better'}{times} "
        f'<span class="soft small">{text(" · ".join(known(site.cluster(change), began_with(change))))}</span>'
    )


def _days(totals: Totals) -> str:
    first, last = ((started_at or "")[:10] for started_at in (totals["first_started_at"], totals["last_started_at"]))
    return first if first == last else f"{first} to {last}"
