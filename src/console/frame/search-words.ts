/**
 * Further words by which people look for a page or a command, in both languages at once: they are never shown, and include those
 * that the console does not use itself.
 */

const WORDS: Readonly<Record<string, string>> = {
  publish: 'share expose tunnel new freigabe freigeben neu',
  addAgent: 'connector tunnel new install enroll neu installieren',
  newProvider: 'login log in sso oidc saml google github new anmeldung neu',
  newPolicy: 'access rule allow network ip new zugriff regel netz neu',
  newDomain: 'hostname dns new neu',
  invite: 'add user member people new benutzer nutzer mitglied hinzufügen neu',
  newAccount: 'token key secret create script api schlüssel geheimnis erstellen skript',
  newClient: 'secret create oauth geheimnis erstellen',
  newFrontdoor: 'create project erstellen projekt',
  backup: 'export restore snapshot database backup datenbank wiederherstellen',
  signOut: 'log out logout leave ausloggen verlassen',
  endSessions: 'log out logout everywhere sign devices überall abmelden ausloggen geräte',
  account: 'mfa 2fa totp password change own ändern eigenes',
  people: 'users members team roles benutzer nutzer mitglieder rollen',
  sessions: 'log out logout everywhere sign devices überall abmelden ausloggen geräte',
  accounts: 'token tokens key keys secret rotate schlüssel geheimnis rotieren',
  clients: 'secret rotate token geheimnis rotieren',
  activity: 'audit log history who deleted changed protokoll wer gelöscht geändert verlauf',
  failures: 'error errors 403 502 why warum',
  policies: 'access rules allow deny network ip zugriff regeln netz',
  providers: 'login log in sso oidc google github anmeldung',
  eventExport: 'siem splunk syslog collector audit log sammler protokoll',
  notifications: 'webhook email mail pager alert smtp benachrichtigung alarm',
  installation: 'version backup certificates address sicherung zertifikate adresse',
};

export function searchWords(name: string): string {
  return WORDS[name] ?? '';
}
