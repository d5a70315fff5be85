/**
 * Auth providers of type MICROSOFT: Entra ID, for one tenant, or for several that the data lists. Entra ID does not verify
 * email addresses: the administrators of any tenant can give an account another person's address, so that an address
 * counts only where Microsoft or the owner of the tenant vouches for it.
 */
import { textsOf } from '#base';
import type { ProviderClaims, ProviderData, ProviderType } from './provider-type.ts';
import { address, CLIENT_FIELDS, CLIENT_PROPERTIES, OPEN_ID, textOr } from './schema-parts.ts';

const AUTHORITY = 'https://login.microsoftonline.com';
const TENANT_ID = '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}';
/** The tenant of personal accounts, which `consumers` stands for. */
const CONSUMERS_ID = '9188040d-6c67-4c5b-b112-36a304b66dad';
/** Values of `tenant` for accounts of several tenants. */
const SEVERAL = ['common', 'organizations'] as const;

const OBJECT_ID = new RegExp(`^${TENANT_ID}$`);
/** The forms in which Entra ID states that the tenant owns the domain of the address. */
const OWNED: ReadonlySet<unknown> = new Set([true, 1, '1', 'true']);

function servesSeveral({ tenant }: ProviderData): boolean {
  return SEVERAL.some((word) => word === tenant);
}

function metadata(data: ProviderData) {
  const authority = textOr(data['authority'], AUTHORITY).replace(/\/+$/, '');
  const tenant = String(data['tenant']).toLowerCase();
  const named = servesSeveral(data) ? '{tenantid}' : tenant === 'consumers' ? CONSUMERS_ID : tenant;
  return {
    issuer: `${authority}/${named}/v2.0`,
    discoveryUrl: `${authority}/${tenant}/v2.0/.well-known/openid-configuration`,
  };
}

/** The issuer of a single tenant is proven by the token itself. */
function refusalOf({ tid }: ProviderClaims, data: ProviderData): string | undefined {
  if (!servesSeveral(data)) return undefined;
  const { allowed_tenants: allowed = [] } = data as { readonly allowed_tenants?: readonly string[] };
  if (allowed.some((tenant) => tenant.toLowerCase() === tid)) return undefined;
  return `the account belongs to the tenant ${String(tid)}, which allowed_tenants does not list`;
}

/** Whether Microsoft or the owner of the tenant vouches for the email address: see "verified domain owner" in Microsoft's list of optional claims. */
function isEmailProven({ iss, idp, acct, xms_edov: isOwned }: ProviderClaims, data: ProviderData): boolean {
  if (OWNED.has(isOwned)) return true;
  const isGuest = (idp !== undefined && idp !== iss) || (acct !== undefined && acct !== 0);
  return data['trust_email'] === true && data['tenant'] !== 'consumers' && !servesSeveral(data) && !isGuest;
}

/**
 * Groups count by their object ID, because names are chosen by those who create groups; roles of the application by their
 * value, as its owner has defined them. An address that nobody vouches for is left out, also for rules about claims.
 */
function claimsOf(claims: ProviderClaims, data: ProviderData): ProviderClaims {
  const { email, email_verified: _claimed, groups, roles, ...others } = claims;
  const roleNames = textsOf(roles);
  return {
    ...others,
    ...(isEmailProven(claims, data) && email !== undefined ? { email, email_verified: true } : {}),
    groups: [...textsOf(groups).filter((group) => OBJECT_ID.test(group)), ...roleNames],
    ...(roleNames.length > 0 ? { roles: roleNames } : {}),
  };
}

/** A pattern for conditions: the value of a property that is wrong anyway satisfies it. */
function otherThan(...words: readonly string[]): string {
  return `^(?!(?:${words.join('|')})$)`;
}

export const microsoft: ProviderType = {
  schema: {
    title: 'Microsoft Entra ID',
    type: 'object',
    required: ['tenant', 'client_id', 'client_secret'],
    properties: {
      tenant: {
        type: 'string',
        title: 'tenant (the id of a tenant, common, organizations or consumers)',
        description:
          'The directory (tenant) id, whose accounts are admitted; organizations or common for accounts of the tenants in allowed_tenants; consumers for all personal accounts',
        pattern: `^(?:common|organizations|consumers|${TENANT_ID})$`,
      },
      ...CLIENT_PROPERTIES,
      allowed_tenants: {
        type: 'array',
        description: `The ids of the tenants whose accounts are admitted if the tenant is organizations or common; ${CONSUMERS_ID} stands for personal accounts`,
        items: { type: 'string', title: 'tenant id (a UUID)', pattern: `^${TENANT_ID}$` },
        minItems: 1,
        maxItems: 1_000,
      },
      trust_email: {
        type: 'boolean',
        description:
          'Whether email addresses count as verified that the administrators of the one tenant give its accounts; false when absent, and never for guests. Addresses with the claim xms_edov count in any case',
      },
      authority: address(`The address of a national cloud, instead of ${AUTHORITY}`),
    },
    additionalProperties: false,
    allOf: [
      {
        if: { properties: { tenant: { type: 'string', pattern: otherThan(...SEVERAL) } } },
        else: { required: ['allowed_tenants'], properties: { allowed_tenants: { type: 'array' } } },
      },
      {
        if: { properties: { tenant: { enum: SEVERAL } } },
        else: {
          properties: {
            allowed_tenants: {
              not: {},
              title: 'nothing, because the tenant is neither organizations nor common',
            },
          },
        },
      },
      {
        if: { properties: { tenant: { type: 'string', pattern: otherThan(...SEVERAL, 'consumers') } } },
        else: { properties: { trust_email: { type: 'boolean', enum: [false] } } },
      },
    ],
  },
  secrets: ['client_secret'],
  protocol: 'openid',
  usesPkce: () => true,
  metadata,
  prompt: () => 'login',
  openId: {
    ...OPEN_ID,
    keepsMetadata: true,
    keysNameIssuers: true,
    // It has nothing that ID tokens lack, and its subjects are those of another service.
    readsUserinfo: false,
    refusalOf,
    subjectOf: ({ sub, tid }, data) => (servesSeveral(data) ? `${String(tid)}:${sub}` : sub),
    claimsOf: ([idToken = {}], data) => [claimsOf(idToken, data)],
  },
  texts: {
    displayName: { en: 'Microsoft Entra ID', de: 'Microsoft Entra ID' },
    description: {
      en: 'Signs people in with their Microsoft account at work or school, formerly Azure AD',
      de: 'Meldet Personen mit ihrem Microsoft-Konto von Arbeit oder Schule an, früher Azure AD',
    },
    steps: {
      first: {
        en: [
          'In the Microsoft Entra admin center, open "App registrations" and register an application for accounts in your directory only, or in several.',
        ],
        de: [
          'Öffnen Sie im Microsoft Entra Admin Center „App registrations“ und registrieren Sie eine Anwendung für Konten nur Ihres Verzeichnisses oder mehrerer.',
        ],
      },
      redirects: {
        en: 'Enter these addresses as redirect URIs of the platform "Web" under "Authentication" of the application:',
        de: 'Tragen Sie diese Adressen als Umleitungs-URIs der Plattform „Web“ unter „Authentication“ der Anwendung ein:',
      },
      last: {
        en: [
          'Copy the "Application (client) ID", which is the client ID, and the "Directory (tenant) ID" of its overview into the form below.',
          'Under "Certificates & secrets", create a client secret and copy its value, not its ID.',
          'For rules about groups, add the groups claim under "Token configuration": "Groups assigned to the application", because Entra ID leaves all groups out for members of more than 200. Groups count by object ID, roles of the application by value.',
          'For rules about email addresses, add the optional claims "email" and "xms_edov" for ID tokens (the latter in the manifest): without "xms_edov" an address counts only if the tenant is trusted for it.',
        ],
        de: [
          'Übernehmen Sie die „Application (client) ID“, das ist die Client-ID, und die „Directory (tenant) ID“ ihrer Übersicht in das Formular unten.',
          'Legen Sie unter „Certificates & secrets“ ein Client-Geheimnis an, und übernehmen Sie seinen Wert, nicht seine ID.',
          'Für Regeln über Gruppen fügen Sie unter „Token configuration“ den Gruppen-Claim hinzu: „Groups assigned to the application“, denn bei mehr als 200 Gruppen lässt Entra ID alle weg. Gruppen zählen mit ihrer Objekt-ID, Rollen der Anwendung mit ihrem Wert.',
          'Für Regeln über E-Mail-Adressen fügen Sie für ID-Token die Claims „email“ und „xms_edov“ hinzu (letzteren im Manifest): Ohne „xms_edov“ zählt eine Adresse nur, wenn dem Mandanten dafür vertraut wird.',
        ],
      },
    },
    fields: {
      tenant: {
        label: { en: 'Tenant', de: 'Mandant' },
        help: {
          de: 'Die Verzeichnis-ID (Mandant), deren Konten eingelassen werden; organizations oder common für Konten der erlaubten Mandanten; consumers für alle persönlichen Konten.',
        },
      },
      ...CLIENT_FIELDS,
      allowed_tenants: {
        label: { en: 'Allowed tenants', de: 'Erlaubte Mandanten' },
        help: { de: 'Die IDs der Mandanten, deren Konten bei organizations oder common eingelassen werden.' },
      },
      trust_email: {
        label: { en: 'Trust email addresses', de: 'E-Mail-Adressen vertrauen' },
        help: {
          de: 'Ob Adressen als bestätigt gelten, die die Verwaltung des einen Mandanten vergibt; nie bei Gästen. Adressen mit dem Claim xms_edov zählen immer.',
        },
      },
      authority: {
        label: { en: 'Cloud URL', de: 'Adresse der Cloud' },
        help: { de: `Einer nationalen Cloud, statt ${AUTHORITY}.` },
      },
    },
  },
  example: {
    tenant: '5f1c2d3e-4a5b-4c6d-8e7f-901234567890',
    client_id: '0b8a7c6d-5e4f-4a3b-9c2d-1e0f9a8b7c6d',
    client_secret: 'SECRET',
  },
};
