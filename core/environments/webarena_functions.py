"""The ``func:`` forms of WebArena's program_html: a few named calls; no code of the file is run."""

import ast
import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from core.environments.protocol import PageDriver
from core.environments.webarena_sites import site_address
from core.schema.errors import UsageError, WorldError

REQUEST_SECONDS = 30.0
NAMES = (
    "reddit_get_post_url",
    "shopping_get_latest_order_url",
    "shopping_get_sku_latest_review_author",
    "shopping_get_sku_latest_review_rating",
    "gitlab_get_project_memeber_role",
)

_MEMBER_ROLE = """((account) => {
  const names = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
  const index = names.findIndex((name) => name.innerText === "@" + account);
  const roles = document.querySelectorAll("td.col-max-role span");
  return index >= 0 && index < roles.length ? roles[index].innerText : "";
})"""


def parse_call(text: str) -> tuple[str, tuple[str, ...]]:
    """Read ``name('argument', __page__)``; the page is left out of the arguments returned.

    Raises ValueError for any other form or an unknown name.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text} is not a call") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise ValueError(f"{text} is not a plain call")
    if call.func.id not in NAMES:
        raise ValueError(f"{call.func.id} is not known; there are {', '.join(NAMES)}")
    arguments: list[str] = []
    for argument in call.args:
        if isinstance(argument, ast.Name) and argument.id == "__page__":
            continue
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise ValueError(f"{text} has an argument that is not text")
        arguments.append(argument.value)
    wanted = 0 if call.func.id == "shopping_get_latest_order_url" else 1
    if len(arguments) != wanted:
        raise ValueError(f"{call.func.id} takes {wanted or 'no'} text argument{'' if wanted == 1 else 's'}")
    return call.func.id, tuple(arguments)


async def run_call(text: str, page: PageDriver, sites: Mapping[str, str], task: str) -> str:
    """Return what the call gives; raises UsageError or WorldError where the shop cannot be asked."""
    name, arguments = parse_call(text)
    if name == "reddit_get_post_url":
        return post_url(arguments[0])
    if name == "gitlab_get_project_memeber_role":
        return str(await page.evaluate(f"{_MEMBER_ROLE}({json.dumps(arguments[0])})", main_world=True))
    shop = _Shop(sites, task)
    if name == "shopping_get_latest_order_url":
        return await asyncio.to_thread(shop.latest_order_url)
    review = await asyncio.to_thread(shop.latest_review, arguments[0])
    if review is None:
        return ""
    if name == "shopping_get_sku_latest_review_author":
        return str(review.get("nickname", ""))
    ratings = review.get("ratings") or [{}]
    return str(ratings[0].get("percent", ""))


def post_url(url: str) -> str:
    """Return the address of the post that a page of the forum belongs to, or `url` where it is no post's."""
    parts = urllib.parse.urlparse(url)
    path = parts.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{path[2]}/{path[3]}/"


class _Shop:
    """The shop's REST interface, asked as its administrator."""

    def __init__(self, sites: Mapping[str, str], task: str) -> None:
        self._task = task
        self._base = site_address("SHOPPING", sites, task)
        self._user = sites.get("SHOPPING_SITE_ADMIN_USERNAME", "")
        self._password = sites.get("SHOPPING_SITE_ADMIN_PASSWORD", "")
        if not self._user or not self._password:
            raise UsageError(
                f"{task} is judged by asking the shop as its administrator: set "
                "SHOPPING_SITE_ADMIN_USERNAME and SHOPPING_SITE_ADMIN_PASSWORD in the environment."
            )

    def latest_order_url(self) -> str:
        query = urllib.parse.urlencode(
            {
                "searchCriteria[sortOrders][0][field]": "created_at",
                "searchCriteria[sortOrders][0][direction]": "DESC",
                "searchCriteria[pageSize]": "1",
            }
        )
        found = self._get(f"/rest/V1/orders?{query}")
        items = found.get("items") if isinstance(found, dict) else None
        if not items:
            return f"{self._base}/sales/order/history/"
        return f"{self._base}/sales/order/view/order_id/{int(items[0]['increment_id'])}/"

    def latest_review(self, sku: str) -> dict[str, Any] | None:
        reviews = self._get(f"/rest/V1/products/{urllib.parse.quote(sku, safe='')}/reviews")
        return reviews[-1] if isinstance(reviews, list) and reviews else None

    def _get(self, path: str) -> Any:
        token = self._request(
            "/rest/default/V1/integration/admin/token", {"username": self._user, "password": self._password}
        )
        return self._request(path, None, str(token))

    def _request(self, path: str, body: dict[str, str] | None, token: str = "") -> Any:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            place = path.partition("?")[0]
            raise WorldError(
                f"The shop could not be asked at {self._base}{place} to judge {self._task}: {error}."
            ) from error
