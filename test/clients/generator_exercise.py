"""The client of openapi-generator at work: create, list, get, patch, delete, and refusals."""

import os

import openapi_client as api
from openapi_client.rest import ApiException

client = api.ApiClient(api.Configuration(host=os.environ["FRONTDOOR_CLIENT_URL"]))
client.set_default_header("Authorization", os.environ["FRONTDOOR_CLIENT_AUTHORIZATION"])


def refused(status, call):
    try:
        call()
    except ApiException as error:
        assert error.status == status, error
        return error
    raise AssertionError(f"not refused with {status}")


caller = api.OrganizationsApi(client).get_caller()
frontdoors = api.FrontdoorsApi(client)
frontdoor = frontdoors.create_frontdoor(api.NewFrontdoor(name="Generated", organization_id=caller.organization_id))
assert frontdoors.get_frontdoor(frontdoor.id).name == "Generated"

providers = api.AuthProvidersApi(client)
data = {"issuer": "https://idp.example.com", "client_id": "generated"}
provider = providers.create_auth_provider(
    frontdoor.id, api.NewProvider(name="Log-in", type=api.ProviderType.OIDC, data=data)
)
assert provider.enabled and provider.data["client_id"] == "generated"
listed = providers.list_auth_providers(frontdoor.id, page=0, size=20, sort="name,asc")
assert [each.id for each in listed.content] == [provider.id], listed
changed = providers.change_auth_provider(frontdoor.id, provider.id, api.ProviderChange(name="Renamed"))
assert changed.name == "Renamed"
assert providers.get_auth_provider(frontdoor.id, provider.id).name == "Renamed"
types = api.AuthProviderTypesApi(client).list_auth_provider_types(frontdoor.id)
assert {each.type for each in types} >= {api.ProviderType.OIDC, api.ProviderType.API_KEY}

policy = api.SharePolicyReplacement(
    emails=["bob@example.com", "*@example.org"],
    public_paths=["/health", "/static/%20x/*"],
    ip_allow=["10.0.0.0/8", "::1"],
    session=api.SharePolicyReplacementSession(idle="PT90M", absolute="P1DT12H"),
)
refused(404, lambda: api.SharesApi(client).replace_share_policy(frontdoor.id, "missing", policy))
assert api.MetricsApi(client).get_frontdoor_metrics(frontdoor.id, duration="PT1H").totals.requests == 0
assert api.AuditApi(client).list_audit_events(size=5).content
assert api.FabricApi(client).list_routers().total_elements >= 0

providers.delete_auth_provider(frontdoor.id, provider.id)
refused(404, lambda: providers.get_auth_provider(frontdoor.id, provider.id))
frontdoors.delete_frontdoor(frontdoor.id)
error = refused(403, lambda: frontdoors.get_frontdoor(frontdoor.id))
assert "not_found" in error.body
print("done")
