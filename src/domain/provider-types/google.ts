/** Auth providers of type GOOGLE. */
import type { ProviderType } from './provider-type.ts';
import {
  address,
  CLIENT_FIELDS,
  GOOGLE_ISSUER,
  GOOGLE_PROMPT,
  knownProvider,
  OPEN_ID,
  textOr,
} from './schema-parts.ts';

export const google: ProviderType = {
  schema: knownProvider('Google', { issuer: address(`Instead of ${GOOGLE_ISSUER}`) }),
  secrets: ['client_secret'],
  protocol: 'openid',
  usesPkce: () => true,
  metadata: ({ issuer }) => ({ issuer: textOr(issuer, GOOGLE_ISSUER), discoveryUrl: undefined }),
  prompt: () => GOOGLE_PROMPT,
  openId: { ...OPEN_ID, needsEmail: true },
  texts: {
    displayName: { en: 'Google', de: 'Google' },
    description: {
      en: 'Signs people in with their Google account',
      de: 'Meldet Personen mit ihrem Google-Konto an',
    },
    steps: {
      first: {
        en: [
          'In the Google Cloud console, open "APIs & Services" and configure the consent screen: "Internal" admits the accounts of your organization only.',
          'Under "Credentials", create an OAuth client ID of the type "Web application".',
        ],
        de: [
          'Öffnen Sie in der Google Cloud Console „APIs & Services“ und richten Sie den Zustimmungsbildschirm ein: „Internal“ lässt nur Konten Ihrer Organisation zu.',
          'Legen Sie unter „Credentials“ eine OAuth-Client-ID der Art „Web application“ an.',
        ],
      },
      redirects: {
        en: 'Enter these addresses under "Authorized redirect URIs" of the OAuth client:',
        de: 'Tragen Sie diese Adressen unter „Authorized redirect URIs“ des OAuth-Clients ein:',
      },
      last: {
        en: ['Choose "Create", and copy the client ID and the client secret into the form below.'],
        de: ['Wählen Sie „Create“, und übernehmen Sie Client-ID und Client-Geheimnis in das Formular unten.'],
      },
    },
    fields: {
      ...CLIENT_FIELDS,
      issuer: {
        label: { en: 'Issuer', de: 'Aussteller' },
        help: { de: `Statt ${GOOGLE_ISSUER}.` },
      },
    },
  },
  example: { client_id: 'ID.apps.googleusercontent.com', client_secret: 'SECRET' },
};
