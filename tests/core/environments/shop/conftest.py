import pytest

from core.environments.shop.catalogue import ProductCatalogue, SearchIndex, bundled_catalogue
from core.environments.shop.environment import Shop


@pytest.fixture(scope="session")
def catalogue() -> ProductCatalogue:
    return bundled_catalogue()


@pytest.fixture(scope="session")
def index(catalogue):
    index = SearchIndex(catalogue.products)
    yield index
    index.close()


@pytest.fixture
async def shop():
    shop = Shop()
    yield shop
    await shop.close()
