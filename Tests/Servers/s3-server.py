"""A server of S3 for tests: moto, with a check of every signature before it, which moto does not make. botocore's own signer computes the
signature that a request must have. Prints its port when it listens, and ends with the process that has started it.

    s3-server.py

Buckets: fleet, fle.et. Keys: AKIDTEST, and ASIATEMPORARY with a token. Those of ASIAEXPIRED have expired.
"""
import datetime
import hashlib
import io
import logging
import os
import re
import threading
import time
from urllib.parse import quote, unquote

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import Client

KEYS = {
    "AKIDTEST": Credentials("AKIDTEST", "secret/with+signs"),
    "ASIATEMPORARY": Credentials("ASIATEMPORARY", "other", "to/ken+1=="),
    "ASIAEXPIRED": Credentials("ASIAEXPIRED", "former", "old"),
}
FORM = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([a-z0-9-]+)/s3/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})"
)


class Checked:
    """Lets only requests with a right signature through. Writes go through one at a time: S3 compares and replaces an object in one step,
    and moto compares first and replaces later."""

    def __init__(self, app):
        self.app = app
        self.writes = threading.Lock()

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        code = self.problem(environ, body)
        if code is None and environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return self.app(environ, start_response)
        if code is None:
            with self.writes:
                return list(self.app(environ, start_response))
        start_response("400 Bad Request" if code == "ExpiredToken" else "403 Forbidden", [("Content-Type", "application/xml")])
        return [f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>no</Message></Error>'.encode()]

    def problem(self, environ, body):
        headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
        headers["content-type"] = environ.get("CONTENT_TYPE", "")
        match = FORM.fullmatch(headers.get("authorization", ""))
        if not match:
            return "MissingSecurityHeader"
        key, date, region, names, signature = match.groups()
        names = names.split(";")
        must = {"host"} | {name for name in headers if name.startswith("x-amz-")}
        if not must <= set(names) or "x-amz-content-sha256" not in names or names != sorted(names):
            return "AccessDenied"
        if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        credentials = KEYS.get(key)
        if credentials is None:
            return "InvalidAccessKeyId"
        if headers.get("x-amz-security-token") != credentials.token:
            return "InvalidToken"
        stamp = headers["x-amz-date"]
        sent = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs((datetime.datetime.now(datetime.timezone.utc) - sent).total_seconds()) > 900 or not stamp.startswith(date):
            return "RequestTimeTooSkewed"
        # S3 decodes the path and encodes it again.
        path, _, query = environ["RAW_URI"].partition("?")
        path = quote(unquote(path), safe="/~")
        request = AWSRequest(
            method=environ["REQUEST_METHOD"],
            url=f"http://{headers['host']}{path}?{query}",
            headers={name: headers[name] for name in names},
        )
        request.context["timestamp"] = stamp
        signer = S3SigV4Auth(credentials, "s3", region)
        expected = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        if expected != signature:
            return "SignatureDoesNotMatch"
        return "ExpiredToken" if key == "ASIAEXPIRED" else None


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *arguments):
        pass


def end_with_parent(parent):
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def main():
    threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
    logging.disable(logging.CRITICAL)
    app = DomainDispatcherApplication(create_backend_app)
    for bucket in ["fleet", "fle.et"]:
        response = Client(app).put(f"/{bucket}", base_url="http://localhost:5000", headers={"Host": "localhost:5000"})
        assert response.status_code == 200, response.data
    server = make_server("127.0.0.1", 0, Checked(app), threaded=True, request_handler=Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


main()
