/** Auth providers of type GITHUB: OAuth 2.0 and GitHub's API, because GitHub is no OpenID provider. */
import type { ProviderType } from './provider-type.ts';
import { address, CLIENT_FIELDS, knownProvider } from './schema-parts.ts';

export const github: ProviderType = {
  schema: knownProvider('GitHub', {
    base_url: address('The address of a GitHub of your own, instead of https://github.com'),
    api_url: address('The address of its API, instead of https://api.github.com or <base_url>/api/v3'),
  }),
  secrets: ['client_secret'],
  protocol: 'github',
  usesPkce: () => true,
  metadata: () => undefined,
  prompt: () => undefined,
  texts: {
    displayName: { en: 'GitHub', de: 'GitHub' },
    description: {
      en: 'Signs people in with their GitHub account',
      de: 'Meldet Personen mit ihrem GitHub-Konto an',
    },
    steps: {
      first: {
        en: [
          'In the settings of your GitHub organization or account, open "Developer settings", "OAuth Apps", and register a new application.',
        ],
        de: [
          'Öffnen Sie in den Einstellungen Ihrer GitHub-Organisation oder Ihres Kontos „Developer settings“, „OAuth Apps“, und registrieren Sie eine Anwendung.',
        ],
      },
      redirects: {
        en: 'Enter the address under "Authorization callback URL" of the OAuth app, which takes one; a further app serves a further address:',
        de: 'Tragen Sie die Adresse unter „Authorization callback URL“ der OAuth-App ein, die eine hat; für eine weitere Adresse gibt es eine weitere App:',
      },
      last: {
        en: [
          'Register the application and generate a client secret, which GitHub shows once. Copy it and the client ID into the form below.',
        ],
        de: [
          'Registrieren Sie die Anwendung, und erzeugen Sie ein Client-Geheimnis, das GitHub einmal zeigt. Übernehmen Sie es und die Client-ID in das Formular unten.',
        ],
      },
    },
    fields: {
      ...CLIENT_FIELDS,
      base_url: {
        label: { en: 'GitHub URL', de: 'Adresse von GitHub' },
        help: { de: 'Eines eigenen GitHub, statt https://github.com.' },
      },
      api_url: {
        label: { en: 'GitHub API URL', de: 'Adresse seiner Schnittstelle' },
        help: { de: 'Seiner Schnittstelle, statt https://api.github.com oder <base_url>/api/v3.' },
      },
    },
  },
  example: { client_id: 'Iv1.0123456789abcdef', client_secret: 'SECRET' },
};
