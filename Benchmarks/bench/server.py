"""The image server beside nginx and thumbor: hits, cold images, overload, origins that hang, restarts."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time

from . import clients, psnr
from .model import Contract, Row
from .workshop import PROJECT, SYSTEM_PYTHON, answers, column, nginx

NGINX, FILTER, THUMBOR = "nginx, static", "nginx image_filter", "thumbor 7.8"
COMMAND, WITHOUT_CACHE = "webimage get", "webimage get --no-cache"
PIXELS = 256 << 20
FILTER_MODULE = pathlib.Path("/usr/lib/nginx/modules/ngx_http_image_filter_module.so")


def rows(shop):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    program = shop.installed("server") / "webimage-server"
    pictures = originals(shop)
    with nginx(pictures, shop.scratch / "nginx-originals") as origin:
        make = lambda name, *options: Server(program, shop.folder(name), origin, *options)
        yield from hits(shop, make, origin)
        yield from cold(shop, make, origin, pictures)
        yield from together(make, origin)
        yield from overload(shop, make, origin)
        yield from parked(shop, make, origin)
        yield from restarts(shop, program, origin)


def originals(shop):
    """Twelve JPEGs of 6 megapixels in a folder."""
    place = shop.materials / "jpeg-server"
    if not place.exists():
        part = place.with_name(place.name + ".part")
        subprocess.run([SYSTEM_PYTHON, PROJECT / "Scripts/make-pictures.py", part, "--formats", "jpeg", "--count", "12",
                        "--megapixels", "6-6", "--seed", "7"], check=True)
        for number, path in enumerate(sorted(part.iterdir())):
            # Old enough to be fresh for as long as everything is measured: the origin says nothing else about it.
            os.utime(path, (1_600_000_000, 1_600_000_000))
            path.rename(part / f"{number}.jpg")
        part.rename(place)
    return place


def source(origin, number):
    """The URL of an original; each number is another one for the servers."""
    return f"{origin}/{number % 12}.jpg?{number}"


def target(origin, number, options="w:512/q:80"):
    return f"/_/{options}/plain/{source(origin, number).replace('?', '%3F')}@jpg"


def thumbor_target(origin, number):
    return f"/unsafe/512x0/filters:quality(80)/{source(origin, number).replace('?', '%3F')}"


def filter_target(_, number):
    return f"/{number % 12}.jpg?{number}"


class Process:
    """A running server, measured from outside."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen([str(word) for word in words], **options)
        self.pid = self.process.pid
        self.port = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def pids(self):
        children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]

    def cpu(self):
        """Seconds of the processor so far, of it and its workers."""
        ticks = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                ticks += sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def peak_memory(self):
        """The most memory that it had, in MiB."""
        lines = pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    def wrk(self, path, seconds, connections=64):
        """Requests of wrk: how many in a second, and the server's µs for each."""
        before = self.cpu()
        report = clients.wrk(self.port, path, seconds, connections)
        report["cpu"] = (self.cpu() - before) / report["count"] * 1e6
        return report

    def fetch(self, targets, at_once=8):
        """Images from a list: how many in a second, and the server's ms for each."""
        before, start = self.cpu(), time.monotonic()
        clients.fetch(self.port, targets, at_once)
        elapsed = time.monotonic() - start
        return {"rate": len(targets) / elapsed, "cpu": (self.cpu() - before) / len(targets) * 1000}


class Server(Process):
    def __init__(self, program, folder, origin, *options):
        super().__init__([program, "--listen", "127.0.0.1:0", "--insecure", "--allow", origin.removeprefix("http://"),
                          "--cache-dir", folder, "--memory", PIXELS, *options], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "serving on" in line:
                self.port = int(line.rpartition(":")[2])
                break
        assert self.port, "webimage-server did not start"

    def counter(self, name):
        page = clients.get(self.port, "/metrics")[1].decode()
        return next((int(line.split()[1]) for line in page.splitlines() if line.startswith(f"webimage_{name} ")), 0)


# Hits


def hits(shop, make, origin):
    seconds = 1 if shop.quick else 3
    with make("server-hot") as hot, make("server-disk", "--hot-memory", "0") as disk:
        path, body = near(hot, origin, 19_000)
        files = shop.folder("server-static")
        (files / "hit.jpg").write_bytes(body)
        wait_for_entries(disk, path)
        with Nginx(shop, files) as static:
            results = shop.in_turns({
                "hot": lambda: hot.wrk(path, seconds),
                "static": lambda: static.wrk("/hit.jpg", seconds),
                "disk": lambda: disk.wrk(path, seconds),
            })
        assert disk.counter('images_total{from="made"}') <= 1, "images were made again"
    size, note = f"{len(body) / 1000:.0f} kB", "64 connections of wrk; one loop each"
    yield Row("server-hot", f"Server: hit of {size} in memory", "requests/s", column(results["hot"], "rate"),
              peers={NGINX: column(results["static"], "rate")}, contracts=[Contract(">=", 0.8, NGINX)], more_is_better=True, note=note)
    yield Row("server-hot-cpu", f"Server: hit of {size} in memory, CPU", "µs", column(results["hot"], "cpu"),
              peers={NGINX: column(results["static"], "cpu")}, contracts=[Contract("<=", 16)], in_chart=False)
    yield Row("server-disk-cpu", f"Server: hit of {size} on disk, CPU", "µs", column(results["disk"], "cpu"),
              peers={NGINX: column(results["static"], "cpu")}, contracts=[Contract("<=", 1.5, NGINX)], in_chart=False)


def near(server, origin, wanted):
    """The path and the bytes of an image of about that size."""
    made = [(abs(len(body) - wanted), path, body) for path in (target(origin, 0, f"w:{width}/q:80") for width in range(160, 640, 16))
            for body in [clients.get(server.port, path)[1]]]
    return min(made)[1:]


def wait_for_entries(server, path):
    """Requests an image until it is answered from its open file."""
    clients.get(server.port, path)
    deadline = time.monotonic() + 10
    while server.counter("open_files") == 0:
        assert time.monotonic() < deadline, "no file was opened"
        clients.get(server.port, path)
        time.sleep(0.05)


class Nginx(Process):
    """nginx in a process that is measured, as the helper of other groups starts it, or with image_filter and two workers."""

    def __init__(self, shop, documents, *, filters=False):
        self.context = nginx(documents, shop.folder("nginx-server"), filters=filters)
        address = self.context.__enter__()
        self.port = int(address.rpartition(":")[2])
        state = shop.last_folder("nginx-server")
        self.pid = int((state / "nginx.pid").read_text())

    def __exit__(self, *details):
        self.context.__exit__(*details)


# Cold images


def cold(shop, make, origin, pictures):
    count = 24 if shop.quick else 96
    runs = {
        "ours": lambda: ours(shop, make, origin, count),
        "get": lambda: command(shop, origin, count, "--cache-dir", shop.folder("server-get-cache")),
        "without-cache": lambda: command(shop, origin, count, "--no-cache"),
    }
    with contextlib.ExitStack() as stack:
        others = {}
        thumbor = stack.enter_context(Thumbor(shop)) if thumbor_python(shop) else None
        if thumbor:
            runs["thumbor"] = lambda: thumbor.fetch([thumbor_target(origin, number) for number in range(count)])
            others[THUMBOR] = (thumbor, thumbor_target)
        if FILTER_MODULE.exists():
            gd = stack.enter_context(Nginx(shop, pictures, filters=True))
            runs["filter"] = lambda: gd.fetch([filter_target(origin, number) for number in range(count // 4)])
            others[FILTER] = (gd, filter_target)
        results = shop.in_turns(runs)
        with make("server-quality") as server:
            makers = {"ours": (server, target), **others}
            folders = {name: saved(shop, *maker, origin) for name, maker in makers.items()}
    peers = {name: results[key] for key, name in (("thumbor", THUMBOR), ("filter", FILTER)) if key in results}
    limits = {THUMBOR: 1.2, FILTER: 5}
    title = "Server: JPEG of 6 megapixels to 512 px"
    yield Row("server-cold", f"{title}, cold", "images/s", column(results["ours"], "rate"),
              peers={name: column(reports, "rate") for name, reports in peers.items()},
              contracts=[Contract(">=", limits[name], name) for name in peers], more_is_better=True,
              note="8 connections; nginx has the originals itself")
    yield Row("server-cold-cpu", f"{title}, cold, CPU", "ms", column(results["ours"], "cpu"),
              peers={COMMAND: column(results["get"], "cpu"), WITHOUT_CACHE: column(results["without-cache"], "cpu"),
                     **{name: column(reports, "cpu") for name, reports in peers.items()}},
              contracts=[Contract("<=", 1.05, COMMAND)], in_chart=False,
              note="server and command have a cache on disk; the command stores original and thumbnail there, and writes the file")
    yield from quality(title, folders, pictures)


def quality(title, folders, pictures):
    """How near the images come to their originals, which are decoded as a whole and scaled with Lanczos."""
    names = list(folders)
    sizes = ", ".join(f"{name} {sum(file.stat().st_size for file in folders[name].iterdir()) / 12_000:.1f} kB" for name in names)
    files = sorted(pictures.iterdir())
    for key, what, channels in [("luma", "luma PSNR", "L"), ("colour", "PSNR of red, green and blue", "RGB")]:
        ours, *theirs = psnr.of_folders(list(folders.values()), files, channels)
        yield Row(f"server-quality-{key}", f"{title}, {what}", "dB", [ours], peers={name: [value] for name, value in zip(names[1:], theirs)},
                  contracts=[Contract(">=", round(max(theirs) - 0.1, 2))] if theirs else [], more_is_better=True, in_chart=False,
                  note=f"mean of 12, all of quality 80; {sizes}")


def saved(shop, server, make_target, origin):
    """A folder with a server's images of the twelve originals, which have their names."""
    folder = shop.folder("server-images")
    for number in range(12):
        (folder / f"{number}.jpg").write_bytes(clients.get(server.port, make_target(origin, number))[1])
    return folder


def ours(shop, make, origin, count):
    with make("server-cold") as server:
        return server.fetch([target(origin, number) for number in range(count)])


def command(shop, origin, count, *options):
    files = shop.folder("server-get")
    report = shop.measured([shop.webimage, "get", *options, "--quiet", "--thumbnail", "512x65535", "--quality", "80", "--format", "jpg",
                            "--output", files, *[source(origin, number) for number in range(count)]])
    return {"rate": count / report["wall"], "cpu": report["cpu"] / count * 1000}


def thumbor_python(shop):
    return shop.venv("thumbor", "thumbor==7.8.0", "it is left out")


class Thumbor(Process):
    def __init__(self, shop):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        settings = shop.text_file("thumbor.conf", [
            "STORAGE = 'thumbor.storages.no_storage'", "QUALITY = 80", "ALLOW_UNSAFE_URL = True", "AUTO_WEBP = False",
            "HTTP_LOADER_MAX_CLIENTS = 64",
        ])
        program = thumbor_python(shop).parent / "thumbor"
        super().__init__([program, "--port", port, "--ip", "127.0.0.1", "--conf", settings, "--processes", "2", "--log-level", "error"],
                         stderr=subprocess.DEVNULL, start_new_session=True)
        self.port = port
        assert answers(port, self.process), "thumbor did not start"

    def __exit__(self, *_):
        os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()


# Many clients


def together(make, origin):
    """Equal cold requests at once."""
    with make("server-together") as server:
        clients.storm(server.port, target(origin, 0), 1000)
        counts = [server.counter(f"{name}_total") for name in ("downloads", "decodes", "encodes")]
    yield Row("server-together", "Server: 1000 equal cold requests at once: downloads, decodes and encodes", "in all", [sum(counts)],
              contracts=[Contract("<=", 3)], in_chart=False)


def overload(shop, make, origin):
    seconds = 6 if shop.quick else 60
    with make("server-overload", "--timeout", "4") as server:
        hit = target(origin, 0)
        clients.get(server.port, hit)
        capacity = server.fetch([target(origin, number) for number in range(100, 100 + (48 if shop.quick else 240))])["rate"]
        with clients.probe(server.port, hit) as probe:
            many = (target(origin, number) for number in range(1000, 10_000_000))
            outcome = clients.open_loop(server.port, many, 4 * capacity, seconds)
        made = [time for status, time in outcome if status == 200]
        refused = [time * 1000 for status, time in outcome if status in (429, 503)]
        memory = server.peak_memory()
    title = f"Server: 4 times the load that it can make, {seconds} s"
    yield Row("server-overload", f"{title}, images", "images/s", [len(made) / seconds], peers={"without overload": [capacity]},
              contracts=[Contract(">=", 0.9, "without overload")], more_is_better=True, in_chart=False)
    yield Row("server-overload-late", f"{title}, requests that got neither the image nor a refusal", "in all",
              [len(outcome) - len(made) - len(refused)], contracts=[Contract("<=", 0)], in_chart=False, note=f"of {len(outcome)}")
    first = "" if clients.can_go_first() else "; the client waits for processors, too: it is not root's"
    yield Row("server-overload-refused", f"{title}, refusals, 99th percentile", "ms", [clients.percentile(refused, 99)],
              contracts=[Contract("<=", 5)], in_chart=False, note=f"median {clients.percentile(refused, 50):.2f} ms{first}")
    yield Row("server-overload-hits", f"{title}, hits meanwhile, 99th percentile", "ms", [clients.percentile(probe.result, 99)],
              contracts=[Contract("<=", 10)], in_chart=False, note=f"median {clients.percentile(probe.result, 50):.2f} ms")
    yield Row("server-overload-memory", f"{title}, peak memory", "MiB", [memory],
              contracts=[Contract("<=", (PIXELS >> 20) + 64)], in_chart=False, note=f"the limit of decoded pixels is {PIXELS >> 20} MiB")


def parked(shop, make, origin):
    count = 1000 if shop.quick else 5000
    with clients.Hanging() as hanging, make("server-parked", "--timeout", "120", "--allow", hanging.address) as server:
        hit = target(origin, 0)
        clients.get(server.port, hit)
        with clients.Parked(server.port, [target(f"http://{hanging.address}", number) for number in range(count)]):
            deadline = time.monotonic() + 60
            while server.counter("requests_waiting") < count:
                assert time.monotonic() < deadline, "requests are not waiting: " + str(server.counter("requests_waiting"))
                time.sleep(0.05)
            with clients.probe(server.port, hit) as probe:
                # Long enough that a percentile is more than one or two hits.
                rate = server.fetch([target(origin, number) for number in range(100, 148 if shop.quick else 580)])["rate"]
            assert clients.get(server.port, "/ready")[0] == 200
    title = f"Server: {count} requests wait for an origin that hangs"
    yield Row("server-parked", f"{title}, hits meanwhile, 99th percentile", "ms", [clients.percentile(probe.result, 99)],
              contracts=[Contract("<=", 10)], in_chart=False, note=f"another origin's images meanwhile: {rate:.0f} a second")


# Restarts


def restarts(shop, program, origin):
    """Restarts on one listening socket, as systemd keeps it."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    port, folder = listener.getsockname()[1], shop.folder("server-restarts")
    start = f"exec 3<&{listener.fileno()}; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\""
    words = ["bash", "-c", start, "bash", program, "--insecure", "--allow", origin.removeprefix("http://"), "--cache-dir", folder]

    def begin():
        server = subprocess.Popen([str(word) for word in words], pass_fds=[listener.fileno()], stderr=subprocess.PIPE, text=True)
        while "serving on" not in server.stderr.readline():
            assert server.poll() is None, "webimage-server did not start"
        return server

    server, count, pauses = begin(), 3 if shop.quick else 10, []
    clients.get(port, target(origin, 0))
    load = clients.start_wrk(port, target(origin, 0), 2 + 2 * count, 32)
    time.sleep(1)
    for _ in range(count):
        before = time.monotonic()
        server.terminate()
        assert server.wait() == 0, "the server failed at its end"
        server = begin()
        pauses.append((time.monotonic() - before) * 1000)
        time.sleep(1)
    report = clients.end_wrk(load)
    server.terminate()
    server.wait()
    listener.close()
    shutil.rmtree(folder, ignore_errors=True)
    yield Row("server-restarts", f"Server: {count} restarts on one socket under wrk, refused or failed requests", "in all",
              [report["errors"]], contracts=[Contract("<=", 0)], in_chart=False,
              note=f"of {report['count']:.0f}; a restart takes {clients.percentile(pauses, 50):.0f} ms")
