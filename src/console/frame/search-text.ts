import { defineText } from '../text/define-text.ts';

/** Texts of the search alone, which is loaded when it is opened. */
export const searchText = defineText({
  en: {
    recent: 'Recent',
    settings: 'Settings',
    mesh: 'Mesh',
    newPolicy: 'New policy',
    invite: 'Invite a person',
    newAccount: 'New API account',
    newClient: 'New OAuth client',
    newFrontdoor: 'New frontdoor',
    backup: 'Download a backup',
    signOut: 'Sign out',
    endSessions: 'Sign out of all other browsers',
    account: 'Password and second factor',
    tour: 'Take the tour',
    useLanguage: (name: string) => `Use ${name}`,
    kinds: (kind: string) =>
      ({
        policy: 'Policy',
        person: 'Person',
        'api-account': 'API account',
        'oauth-client': 'OAuth client',
        failure: 'Failure',
        'unrouted-failure': 'Failure without a share',
        'audit-event': 'Activity',
      })[kind] ?? '',
  },
  de: {
    recent: 'Zuletzt',
    settings: 'Einstellungen',
    mesh: 'Netz',
    newPolicy: 'Neue Zugriffsrichtlinie',
    invite: 'Eine Person einladen',
    newAccount: 'Neues API-Konto',
    newClient: 'Neuer OAuth-Client',
    newFrontdoor: 'Neue Frontdoor',
    backup: 'Eine Sicherung herunterladen',
    signOut: 'Abmelden',
    endSessions: 'Von allen anderen Browsern abmelden',
    account: 'Passwort und zweiter Faktor',
    tour: 'Den Rundgang machen',
    useLanguage: (name: string) => `${name} verwenden`,
    kinds: (kind: string) =>
      ({
        policy: 'Zugriffsrichtlinie',
        person: 'Person',
        'api-account': 'API-Konto',
        'oauth-client': 'OAuth-Client',
        failure: 'Fehler',
        'unrouted-failure': 'Fehler ohne Freigabe',
        'audit-event': 'Aktivität',
      })[kind] ?? '',
  },
});
