/** Auth providers of type GITLAB: gitlab.com, or a GitLab of one's own, which are OpenID providers. */
import { textsOf } from '#base';
import type { ProviderClaims, ProviderType } from './provider-type.ts';
import { address, CLIENT_FIELDS, knownProvider, OPEN_ID, textOr } from './schema-parts.ts';

const BASE_URL = 'https://gitlab.com';

/** ID tokens name the groups that an account is a direct member of, the userinfo those below their subgroups, too. */
function claimsOf([idToken = {}, userinfo = {}]: readonly ProviderClaims[]): readonly ProviderClaims[] {
  const named = [idToken['groups_direct'], idToken['groups'], userinfo['groups']].flatMap(textsOf);
  return [{ ...idToken, groups: [...new Set(named)] }, userinfo];
}

export const gitlab: ProviderType = {
  schema: knownProvider('GitLab', {
    base_url: address(`The address of a GitLab of your own, instead of ${BASE_URL}`),
  }),
  secrets: ['client_secret'],
  protocol: 'openid',
  usesPkce: () => true,
  metadata: ({ base_url: baseUrl }) => ({
    issuer: textOr(baseUrl, BASE_URL).replace(/\/+$/, ''),
    discoveryUrl: undefined,
  }),
  prompt: () => 'login',
  openId: { ...OPEN_ID, needsEmail: true, claimsOf },
  texts: {
    displayName: { en: 'GitLab', de: 'GitLab' },
    description: {
      en: 'Signs people in with their account at gitlab.com or at a GitLab of your own',
      de: 'Meldet Personen mit ihrem Konto bei gitlab.com oder einem eigenen GitLab an',
    },
    steps: {
      first: {
        en: [
          'In GitLab, open "Applications" in the settings of your group, of your account or, as an administrator, of the instance, and add an application.',
        ],
        de: [
          'Öffnen Sie in GitLab „Applications“ in den Einstellungen Ihrer Gruppe, Ihres Kontos oder, als Administrator, der Instanz, und legen Sie eine Anwendung an.',
        ],
      },
      redirects: {
        en: 'Enter these addresses under "Redirect URI" of the application, each on a line of its own:',
        de: 'Tragen Sie diese Adressen unter „Redirect URI“ der Anwendung ein, jede in einer eigenen Zeile:',
      },
      last: {
        en: [
          'Leave "Confidential" selected, and select the scopes "openid", "profile" and "email".',
          'Save the application. Copy the "Application ID", which is the client ID, and the secret into the form below.',
        ],
        de: [
          'Lassen Sie „Confidential“ ausgewählt, und wählen Sie die Scopes „openid“, „profile“ und „email“.',
          'Speichern Sie die Anwendung. Übernehmen Sie die „Application ID“, das ist die Client-ID, und das Geheimnis in das Formular unten.',
        ],
      },
    },
    fields: {
      ...CLIENT_FIELDS,
      base_url: {
        label: { en: 'GitLab URL', de: 'Adresse von GitLab' },
        help: { de: `Eines eigenen GitLab, statt ${BASE_URL}.` },
      },
    },
  },
  example: { client_id: 'APPLICATION_ID', client_secret: 'SECRET' },
};
