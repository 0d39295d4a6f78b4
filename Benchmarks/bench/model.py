"""What a benchmark finds out."""

import dataclasses
import operator
import statistics

OPERATORS = {"<=": operator.le, ">=": operator.ge, ">": operator.gt}
SIGNS = {"<=": "≤", ">=": "≥", ">": ">"}


@dataclasses.dataclass
class Contract:
    """A promise: our median against a peer's as a ratio, or alone when there is no peer."""

    comparison: str
    limit: float
    peer: str | None = None

    def text(self, unit):
        sign = SIGNS[self.comparison]
        return f"{sign} {self.limit:g} ×" if self.peer else f"{sign} {self.limit:g} {unit}"


@dataclasses.dataclass
class Row:
    """One thing measured: our values and the peers', run by run."""

    key: str
    title: str
    unit: str
    ours: list
    peers: dict = dataclasses.field(default_factory=dict)
    contracts: list = dataclasses.field(default_factory=list)
    more_is_better: bool = False
    note: str = ""
    in_chart: bool = True

    @property
    def median(self):
        return statistics.median(self.ours)

    def peer_median(self, peer):
        return statistics.median(self.peers[peer])

    def ratio(self, peer):
        """Ours by theirs. Runs were taken in turns, so it is the median of the ratios of each turn."""
        theirs = self.peers[peer]
        if len(theirs) == len(self.ours):
            return statistics.median(a / b for a, b in zip(self.ours, theirs))
        return self.median / self.peer_median(peer)

    def value(self, contract):
        return self.ratio(contract.peer) if contract.peer else self.median

    def holds_one(self, contract):
        return OPERATORS[contract.comparison](round(self.value(contract), 3), contract.limit)

    @property
    def holds(self):
        return all(self.holds_one(contract) for contract in self.contracts)


def number(value):
    """A figure as people read it: three digits that count, thousands grouped."""
    if value >= 1000:
        return f"{value:,.0f}".replace(",", "\u202f")
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"
