"""Downloads alone: 8000 bodies of 40 KiB, 32 at once."""

import os

from .model import Contract, Row
from .workshop import column, nginx

C = "C: curl multi"
CURL = "curl --parallel"
AT_ONCE = 32


def rows(shop):
    count, size = (500 if shop.quick else 8000), 40 * 1024
    folder = shop.folder("bodies")
    (folder / "body.jpg").write_bytes(b"\xff\xd8\xff" + os.urandom(size - 3))
    with nginx(folder, shop.scratch / "nginx-bodies") as address:
        sources = [f"{address}/body.jpg?{number}" for number in range(count)]
        urls = shop.text_file("bodies.txt", sources)
        fetch = shop.text_file("curl-bodies.txt", [f'url = "{url}"\noutput = "/dev/null"' for url in sources])
        runs = {
            "ours": lambda: shop.ours("download-bench", AT_ONCE, urls),
            "C": lambda: shop.c("fetch-parallel", AT_ONCE, urls),
            "curl": lambda: curl(shop, fetch, count),
        }
        results = shop.in_turns(runs)
    for report in results["ours"] + results["C"]:
        assert report["bytes"] == count * size, "a download was not whole"
    title = f"{count} downloads of 40 KiB, {AT_ONCE} at once"
    yield Row("downloads", title, "requests/s", column(results["ours"], "requests"),
              peers={C: column(results["C"], "requests"), CURL: column(results["curl"], "requests")},
              contracts=[Contract(">=", 0.95, C), Contract(">=", 0.95, CURL)], more_is_better=True)
    yield Row("downloads-cpu", f"{title}, CPU", "s", column(results["ours"], "cpu"),
              peers={C: column(results["C"], "cpu"), CURL: column(results["curl"], "cpu")},
              contracts=[Contract("<=", 1.05, C)], in_chart=False)


def curl(shop, fetch, count):
    report = shop.measured(["curl", "--silent", "--fail", "--parallel", "--parallel-immediate", "--parallel-max", AT_ONCE,
                            "--config", fetch])
    return {"requests": count / report["wall"], "cpu": report["cpu"]}
