"""The page: files of this package, under a policy that lets it ask nobody else for anything."""

import hashlib
from importlib.resources import files
from pathlib import PurePath
from string import Template

from fastapi import FastAPI, Request, Response

_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


def mount(app: FastAPI) -> None:
    """Serve the page at `/` and its files at `/assets/VERSION/…`.

    VERSION is a digest of all of them, so a browser may keep them for good and only asks whether
    `/` has changed.
    """
    web = files("foredraft.server").joinpath("web")
    found = {item.name: item.read_bytes() for item in web.iterdir() if item.is_file()}
    version = hashlib.sha256(b"".join(found[name] for name in sorted(found))).hexdigest()[:16]
    html = _html(found.pop("index.html").decode(), f"assets/{version}", sorted(found)).encode()
    tag = f'"{version}"'

    @app.get("/", include_in_schema=False)
    def index(request: Request) -> Response:
        headers = {**_HEADERS, "Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(html, media_type="text/html", headers=headers)

    @app.get("/assets/{asked}/{name}", include_in_schema=False)
    def asset(asked: str, name: str) -> Response:
        if asked != version or name not in found:
            return Response("There is no such file; reload the page.", 404, _HEADERS)
        headers = {**_HEADERS, "Cache-Control": _FOREVER}
        return Response(found[name], media_type=_TYPES[PurePath(name).suffix], headers=headers)


def _html(template: str, assets: str, names: list[str]) -> str:
    """The page with the addresses of its files; modules are fetched at once, not one by one."""
    preloads = "\n".join(
        f'<link rel="modulepreload" href="{assets}/{name}">'
        for name in names
        if name.endswith(".js") and name != "early.js"
    )
    return Template(template).substitute(assets=assets, preloads=preloads)
