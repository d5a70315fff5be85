/** Auth providers of type OIDC: any OpenID provider, by its issuer. */
import { OPENID_GUIDES } from './openid-guide-table.ts';
import type { ProviderType } from './provider-type.ts';
import {
  address,
  CLIENT_FIELDS,
  CLIENT_PROPERTIES,
  GOOGLE_ISSUER,
  GOOGLE_PROMPT,
  HTTP_ORIGIN,
  OPEN_ID,
} from './schema-parts.ts';

export const openIdConnect: ProviderType = {
  schema: {
    title: 'OpenID Connect',
    type: 'object',
    required: ['issuer', 'client_id'],
    properties: {
      issuer: address("The provider's issuer identifier: an http or https URL without query or fragment"),
      ...CLIENT_PROPERTIES,
      supports_pkce: {
        type: 'boolean',
        description:
          'Whether logins use PKCE (RFC 7636); true when absent, false only for a provider that refuses it',
      },
      trust_email: {
        type: 'boolean',
        description:
          'Whether email addresses count as verified that the provider says nothing about; false when absent, and what it says is unverified never counts',
      },
      discovery_url: {
        type: 'string',
        format: 'uri',
        title: 'uri (http or https, without fragment or user name)',
        description: "Where the provider's metadata are, when not below the issuer",
        pattern: String.raw`${HTTP_ORIGIN}(?:[/?][^\s#]*)?$`,
        maxLength: 2_000,
      },
    },
    additionalProperties: false,
  },
  secrets: ['client_secret'],
  protocol: 'openid',
  usesPkce: (data) => data['supports_pkce'] !== false,
  metadata: (data) => {
    const { issuer, discovery_url: discoveryUrl } = data as { issuer: string; discovery_url?: string };
    return { issuer, discoveryUrl };
  },
  prompt: (data) => (data['issuer'] === GOOGLE_ISSUER ? GOOGLE_PROMPT : 'login'),
  openId: {
    ...OPEN_ID,
    acceptsTokens: true,
    keepsMetadata: true,
    trustsUnsaidEmail: (data) => data['trust_email'] === true,
  },
  texts: {
    displayName: { en: 'OpenID Connect', de: 'OpenID Connect' },
    description: {
      en: 'Signs people in with any OpenID Connect provider and accepts the tokens that it issues',
      de: 'Meldet Personen bei einem beliebigen Anbieter für OpenID Connect an und nimmt die Token an, die er ausstellt',
    },
    steps: {
      first: {
        en: ['Register an application (a client) for the authorization code flow at the identity provider.'],
        de: [
          'Registrieren Sie beim Anbieter eine Anwendung (einen Client) für den Ablauf mit Autorisierungscode.',
        ],
      },
      redirects: {
        en: 'Enter these redirect URLs in the settings of the application:',
        de: 'Tragen Sie diese Rücksprungadressen bei der Anwendung ein:',
      },
      last: {
        en: ['Copy its client ID, its client secret and the address of the issuer into the form below.'],
        de: [
          'Übernehmen Sie ihre Client-ID, ihr Geheimnis und die Adresse des Ausstellers in das Formular unten.',
        ],
      },
    },
    guides: OPENID_GUIDES,
    fields: {
      issuer: {
        label: { en: 'Issuer', de: 'Aussteller' },
        help: { de: 'Die Kennung des Ausstellers: eine http- oder https-Adresse ohne Abfrage und Fragment.' },
      },
      ...CLIENT_FIELDS,
      supports_pkce: {
        label: { en: 'PKCE', de: 'PKCE' },
        help: { de: 'Ob Anmeldungen PKCE (RFC 7636) verwenden; nein nur für Anbieter, die es ablehnen.' },
      },
      trust_email: {
        label: { en: 'Trust email addresses', de: 'E-Mail-Adressen vertrauen' },
        help: {
          de: 'Ob E-Mail-Adressen als bestätigt gelten, über die der Anbieter nichts sagt; unbestätigte gelten nie.',
        },
      },
      discovery_url: {
        label: { en: 'Metadata URL', de: 'Adresse der Metadaten' },
        help: { de: 'Wo die Metadaten des Anbieters liegen, wenn nicht unter dem Aussteller.' },
      },
    },
  },
  example: { issuer: 'https://idp.example.com', client_id: 'frontdoor', client_secret: 'SECRET' },
};
