/** Identity providers that are used with the type OIDC, with the steps at each, in the words of its own pages. */
import type { ProviderGuide } from './provider-type.ts';

const keycloak: ProviderGuide = {
  displayName: 'Keycloak',
  steps: {
    first: {
      en: [
        'In the admin console of Keycloak, select the realm, open "Clients" and choose "Create client". Keep the type "OpenID Connect", and enter a client ID such as frontdoor.',
        'On the next page, turn on "Client authentication" and leave "Standard flow" selected.',
      ],
      de: [
        'Wählen Sie in der Admin-Konsole von Keycloak den Realm, öffnen Sie „Clients“ und wählen Sie „Create client“. Lassen Sie die Art „OpenID Connect“, und geben Sie eine Client-ID ein, etwa frontdoor.',
        'Schalten Sie auf der nächsten Seite „Client authentication“ ein, und lassen Sie „Standard flow“ ausgewählt.',
      ],
    },
    redirects: {
      en: 'Enter these addresses under "Valid redirect URIs":',
      de: 'Tragen Sie diese Adressen unter „Valid redirect URIs“ ein:',
    },
    last: {
      en: [
        'Save the client, open its tab "Credentials", and copy the client secret into the form below.',
        'The issuer is the address of Keycloak, followed by /realms/ and the name of the realm.',
        'For rules about groups, add a mapper of the type "Group Membership" with the token claim name "groups" under "Client scopes" of the client. With "Full group path" on, names of groups begin with a slash.',
      ],
      de: [
        'Speichern Sie den Client, öffnen Sie seinen Tab „Credentials“, und übernehmen Sie das Client-Geheimnis in das Formular unten.',
        'Der Aussteller ist die Adresse von Keycloak, gefolgt von /realms/ und dem Namen des Realms.',
        'Für Regeln über Gruppen fügen Sie unter „Client scopes“ des Clients einen Mapper der Art „Group Membership“ mit dem Token-Claim „groups“ hinzu. Ist „Full group path“ eingeschaltet, beginnen Gruppennamen mit einem Schrägstrich.',
      ],
    },
  },
};

const authentik: ProviderGuide = {
  displayName: 'authentik',
  steps: {
    first: {
      en: [
        'In the admin interface of authentik, open "Applications", "Applications", and create an application with a provider. Enter a name and a slug such as frontdoor.',
        'Choose the provider type "OAuth2/OpenID Provider", an authorization flow, and the client type "Confidential".',
      ],
      de: [
        'Öffnen Sie in der Verwaltung von authentik „Applications“, „Applications“, und legen Sie eine Anwendung mit einem Provider an. Geben Sie einen Namen und einen Slug ein, etwa frontdoor.',
        'Wählen Sie den Provider „OAuth2/OpenID Provider“, einen Ablauf für die Autorisierung und die Client-Art „Confidential“.',
      ],
    },
    redirects: {
      en: 'Add these addresses as redirect URIs, with strict matching:',
      de: 'Fügen Sie diese Adressen als Redirect-URIs mit strengem Vergleich hinzu:',
    },
    last: {
      en: [
        'Copy the client ID and the client secret of the provider into the form below.',
        'The issuer is the address of authentik, followed by /application/o/, the slug and a slash.',
        'If the test shows no verified email address, authentik states that it is unverified: change the scope mapping for "email", which is under "Customization", "Property Mappings".',
      ],
      de: [
        'Übernehmen Sie Client-ID und Client-Geheimnis des Providers in das Formular unten.',
        'Der Aussteller ist die Adresse von authentik, gefolgt von /application/o/, dem Slug und einem Schrägstrich.',
        'Zeigt der Test keine bestätigte E-Mail-Adresse, erklärt authentik sie für unbestätigt: Ändern Sie das Scope Mapping für „email“ unter „Customization“, „Property Mappings“.',
      ],
    },
  },
};

const auth0: ProviderGuide = {
  displayName: 'Auth0',
  steps: {
    first: {
      en: [
        'In the Auth0 dashboard, open "Applications", "Applications", and create an application of the type "Regular Web Applications".',
        'Open its tab "Settings".',
      ],
      de: [
        'Öffnen Sie im Dashboard von Auth0 „Applications“, „Applications“, und legen Sie eine Anwendung der Art „Regular Web Applications“ an.',
        'Öffnen Sie ihren Tab „Settings“.',
      ],
    },
    redirects: {
      en: 'Enter these addresses under "Allowed Callback URLs", separated by commas, and save the changes:',
      de: 'Tragen Sie diese Adressen unter „Allowed Callback URLs“ ein, durch Kommas getrennt, und speichern Sie:',
    },
    last: {
      en: [
        'Copy the client ID and the client secret from the top of the same tab into the form below.',
        'The issuer is https:// with the domain that the tab shows, and a slash at the end.',
      ],
      de: [
        'Übernehmen Sie Client-ID und Client-Geheimnis vom Anfang desselben Tabs in das Formular unten.',
        'Der Aussteller ist https:// mit der Domain, die der Tab zeigt, und einem Schrägstrich am Ende.',
      ],
    },
  },
};

export const OPENID_GUIDES: Readonly<Record<string, ProviderGuide>> = { keycloak, authentik, auth0 };
