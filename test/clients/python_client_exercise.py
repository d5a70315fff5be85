"""The client of openapi-python-client at work: create, list, get, patch, delete, and refusals."""

import os

from frontdoor_management_api_client import Client
from frontdoor_management_api_client.api.auth_providers import (
    change_auth_provider,
    create_auth_provider,
    delete_auth_provider,
    get_auth_provider,
    list_auth_providers,
)
from frontdoor_management_api_client.api.frontdoors import create_frontdoor, delete_frontdoor, get_frontdoor
from frontdoor_management_api_client.api.organizations import get_caller
from frontdoor_management_api_client.models import (
    Error,
    NewFrontdoor,
    NewProvider,
    NewProviderData,
    ProviderChange,
    ProviderType,
)

client = Client(
    base_url=os.environ["FRONTDOOR_CLIENT_URL"],
    headers={"Authorization": os.environ["FRONTDOOR_CLIENT_AUTHORIZATION"]},
)

caller = get_caller.sync(client=client)
frontdoor = create_frontdoor.sync(
    client=client, body=NewFrontdoor(name="Generated", organization_id=caller.organization_id)
)
assert get_frontdoor.sync(frontdoor.id, client=client).name == "Generated"

data = NewProviderData.from_dict({"issuer": "https://idp.example.com", "client_id": "generated"})
provider = create_auth_provider.sync(
    frontdoor.id, client=client, body=NewProvider(name="Log-in", type_=ProviderType.OIDC, data=data)
)
assert provider.enabled, provider
listed = list_auth_providers.sync(frontdoor.id, client=client, page=0, size=20, sort="name,asc")
assert [each.id for each in listed.content] == [provider.id], listed
changed = change_auth_provider.sync(frontdoor.id, provider.id, client=client, body=ProviderChange(name="Renamed"))
assert changed.name == "Renamed"

assert delete_auth_provider.sync_detailed(frontdoor.id, provider.id, client=client).status_code == 204
missing = get_auth_provider.sync(frontdoor.id, provider.id, client=client)
assert isinstance(missing, Error) and missing.error == "not_found", missing
assert delete_frontdoor.sync_detailed(frontdoor.id, client=client).status_code == 204
gone = get_frontdoor.sync(frontdoor.id, client=client)
assert isinstance(gone, Error) and gone.error == "not_found", gone
print("done")
