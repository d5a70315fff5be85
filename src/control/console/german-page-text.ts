/** The texts of the pages that the control plane renders, in German (docs/console-words.md). */
import type { PageText } from './english-page-text.ts';
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from './password-rule.ts';

const providerFailed =
  'Der Anmeldeanbieter hat die Anmeldung nicht abgeschlossen. Versuchen Sie es erneut, oder fragen Sie einen Administrator.';

export const GERMAN_PAGE_TEXT: PageText = {
  signIn: 'Anmelden',
  signInWith: (provider) => `Mit ${provider} anmelden`,
  emailAddress: 'E-Mail-Adresse',
  password: 'Passwort',
  showPassword: 'Passwort anzeigen',
  hidePassword: 'Passwort verbergen',
  logInHelp:
    'Sie können auch ID und Token eines API-Kontos verwenden. Wenn Sie Ihr Passwort vergessen haben, bitten Sie einen Administrator Ihrer Organisation um einen Link, mit dem Sie ein neues festlegen.',
  wrongPassword:
    'Die E-Mail-Adresse oder das Passwort ist falsch. Nach zehn falschen Passwörtern in Folge ist die Anmeldung 15 Minuten lang gesperrt.',
  tooManyPasswords: (seconds) =>
    `Es gab zu viele falsche Passwörter oder zu viele Anmeldungen gleichzeitig. Versuchen Sie es in ${seconds} s erneut.`,
  signedIn: 'Sie sind angemeldet',
  notSignedIn: 'Sie sind nicht angemeldet',
  continue: 'Weiter',
  continueWith: (provider) => `Weiter mit ${provider}`,
  continueAtProvider: 'Weiter zum Anmeldeanbieter',
  cookieLost:
    'Ihr Browser hat die Sitzung nicht behalten. Erlauben Sie Cookies für diese Adresse, und melden Sie sich dann erneut an.',
  signInAgain: 'Erneut anmelden',
  signInTooOld: 'Melden Sie sich erneut an: Dafür darf die Anmeldung höchstens 15 Minuten alt sein.',
  signOut: 'Abmelden',
  providerRefusals: {
    denied: 'Der Anmeldeanbieter hat die Anmeldung abgelehnt.',
    'attempt-not-valid':
      'Diese Anmeldung ist abgelaufen, oder sie wurde in einem anderen Browser oder unter einer anderen Adresse der Konsole begonnen. Beginnen Sie von vorn.',
    'provider-not-available': 'Mit diesem Anbieter kann man sich nicht mehr anmelden.',
    'provider-failed': providerFailed,
    'email-not-verified': 'Ihr Konto hat keine bestätigte E-Mail-Adresse.',
    'too-many': 'Zu viele Personen melden sich gerade an. Versuchen Sie es in einer Minute erneut.',
  },
  welcome: 'Willkommen bei Frontdoor',
  enterCode: (purpose) => `Geben Sie den Code aus Ihrem Link ein, den Teil nach \`#\`. ${purpose}`,
  invitationPurpose: 'Damit erstellen Sie Ihr Konto. Der Code gilt einmal.',
  newPasswordPurpose: 'Damit legen Sie ein neues Passwort fest. Der Code gilt einmal.',
  code: 'Code',
  unknownCode:
    'Der Code ist ungültig, wurde schon verwendet oder ist abgelaufen. Bitten Sie um einen neuen Link.',
  usedCode: 'Der Code wurde gerade verwendet.',
  unknownInvitation:
    'Der Code der Einladung ist ungültig, wurde schon verwendet oder ist abgelaufen. Bitten Sie um einen neuen Link.',
  crowded:
    'Zu viele Personen warten auf eine Rolle in dieser Organisation. Bitten Sie einen ihrer Administratoren um eine Einladung.',
  invited: (maker, organization) => {
    const where = organization === undefined ? '' : ` in die Organisation ${organization}`;
    return maker === undefined ? `Sie sind${where} eingeladen.` : `${maker} lädt Sie${where} ein.`;
  },
  invitedRole: (role) => `Ihr Konto wird die Rolle ${role} haben.`,
  roles: { reader: 'Lesen', editor: 'Bearbeiten', administrator: 'Verwalten', operator: 'Betrieb' },
  invitationExpires: (time) => `Die Einladung läuft am ${time} UTC ab.`,
  orPassword: 'Oder legen Sie ein Passwort fest.',
  name: 'Name',
  createAccount: 'Konto erstellen',
  yourAccount: 'Ihr Konto',
  nameInvalid: 'Der Name fehlt oder ist zu lang.',
  emailInvalid: 'Geben Sie eine gültige E-Mail-Adresse ein.',
  emailTaken: 'Eine andere Person der Organisation hat diese E-Mail-Adresse schon.',
  tooManySignIns: 'Zu viele Personen melden sich gerade an. Versuchen Sie es erneut.',
  passwordRule: `Mindestens ${MIN_PASSWORD_CHARS} Zeichen, zum Beispiel vier Wörter.`,
  passwordProblems: {
    'too-short': `Das Passwort muss mindestens ${MIN_PASSWORD_CHARS} Zeichen haben.`,
    'too-long': `Das Passwort darf höchstens ${MAX_PASSWORD_CHARS} Zeichen haben.`,
    'repeats-characters': 'Das Passwort wiederholt zu wenige Zeichen.',
    'is-guessed':
      'Dieses Passwort erraten andere: Es besteht aus einem häufigen Passwort, Ihrem Namen oder Ihrer Adresse.',
    'is-the-same': 'Das neue Passwort ist das bisherige.',
  },
  changePassword: 'Passwort ändern',
  currentPassword: 'Bisheriges Passwort',
  newPassword: 'Neues Passwort',
  setPassword: 'Passwort festlegen',
  back: 'Zurück',
  otherSessionsEnd: 'Wenn Sie das Passwort ändern, enden alle Ihre anderen Sitzungen.',
  allSessionsEnd: 'Wenn das neue Passwort festgelegt ist, enden alle Ihre Sitzungen.',
  noPassword: 'Sie melden sich nicht mit einem Passwort an.',
  wrongCurrentPassword:
    'Das bisherige Passwort ist falsch. Nach zehn falschen Passwörtern in Folge ist die Anmeldung 15 Minuten lang gesperrt.',
  tooManyWaiting: (seconds) =>
    `Es gab zu viele falsche Passwörter, oder zu viele Anfragen warten. Versuchen Sie es in ${seconds} s erneut.`,
  secondFactor: 'Zweiter Faktor',
  recoveryCode: 'Wiederherstellungscode',
  appCode: 'Code aus Ihrer Authenticator-App',
  useAppCode: 'Code aus der App verwenden',
  useRecoveryCode: 'Wiederherstellungscode verwenden',
  noCode: 'Wenn Sie beides nicht haben, fragen Sie einen Administrator Ihrer Organisation.',
  setUpFactor: 'Zweiten Faktor einrichten',
  setUpOtherApp: 'Andere Authenticator-App einrichten',
  scanCode:
    'Ab jetzt brauchen Sie bei der Anmeldung mit Passwort auch einen Code. Scannen Sie den QR-Code mit einer Authenticator-App.',
  qrCode: 'QR-Code mit dem Geheimnis darunter',
  orSecret: 'Oder geben Sie dieses Geheimnis in der App ein:',
  currentCode: 'Aktueller Code aus der App',
  recoveryCodes: 'Wiederherstellungscodes',
  recoveryText:
    'Bewahren Sie diese Wiederherstellungscodes sicher auf. Jeder gilt einmal anstelle eines Codes aus der App. Sie werden nicht noch einmal angezeigt.',
  copy: 'Kopieren',
  copied: 'Kopiert',
  saveAsFile: 'Als Datei speichern',
  haveStored: 'Ich habe sie aufbewahrt',
  newRecoveryCodes: 'Neue Wiederherstellungscodes erstellen',
  wrongFactor:
    'Der Code ist falsch oder wurde schon verwendet. Nach fünf falschen Codes in Folge ist die Anmeldung 15 Minuten lang gesperrt, danach länger.',
  tooManyCodes: (seconds) => `Es gab zu viele falsche Codes. Versuchen Sie es in ${seconds} s erneut.`,
  stepOver:
    'Diese Anmeldung ist abgelaufen, oder Ihr Browser hat ihr Cookie nicht behalten. Beginnen Sie von vorn.',
  onlyWithPassword:
    'Nur Personen, die sich mit einem Passwort anmelden, können einen zweiten Faktor einrichten.',
  noRole:
    'Sie haben noch keine Rolle. Bitten Sie einen Administrator Ihrer Organisation, Ihnen eine zu geben, und laden Sie diese Seite dann neu.',
  goToConsole: 'Zur Konsole',
  notBuilt: 'Die Konsole ist nicht gebaut',
  notBuiltText: 'Die Konsole ist nicht gebaut. Kommandozeile und API funktionieren ohne sie.',
  buildIt:
    'Führen Sie `npm ci` und `npm run build` im Verzeichnis dieser Installation aus, und starten Sie sie neu. Oder bauen Sie dieselbe Version auf einem anderen Rechner, kopieren Sie ihr Verzeichnis `dist/console` hierher, und starten Sie neu.',
  needsScript: 'Die Konsole braucht JavaScript. Kommandozeile und API können alles, was sie kann.',
  notFound: 'Nicht gefunden',
  noPage: 'Unter dieser Adresse gibt es keine Seite.',
  notEncrypted: 'Nicht verschlüsselt',
  notEncryptedText:
    'Diese Verbindung zur Konsole ist nicht verschlüsselt, deshalb behalten Browser keine Sitzung. Öffnen Sie die Konsole mit `https://`, oder auf diesem Rechner mit `http://localhost`.',
  proxyText:
    'Wenn ein Proxy diese Seite mit `https://` bedient, muss auch die Option `--public-api-url` der Control Plane mit `https://` beginnen.',
  otherAddress: 'Andere Adresse',
  otherAddressText:
    'Unter diesem Namen antwortet die Konsole nicht. Verwenden Sie die Adresse, die die Control Plane ausgegeben hat. Um sie hinter einem Proxy unter diesem Namen zu bedienen, starten Sie die Control Plane mit `--public-api-url` und der Adresse, die Browser anzeigen.',
  notAvailable: 'Nicht verfügbar',
  notAvailableText: 'Die Konsole ist im Moment nicht verfügbar. Versuchen Sie es in einer Minute erneut.',
  didNotWork: 'Das hat nicht funktioniert',
  internalError: 'Interner Fehler',
  internalErrorText: (errorId) => `Das ist ein Fehler der Konsole. Seine Fehler-ID ist ${errorId}.`,
  testSignIn: 'Testanmeldung',
  showResult: 'Ergebnis anzeigen',
  testWorks: 'Die Anmeldung funktioniert',
  testFailed: 'Die Anmeldung ist fehlgeschlagen',
  testStoresNothing:
    'Es wurde keine Sitzung begonnen und nichts gespeichert. Sie können dieses Fenster schließen.',
  testRemedies: {
    denied:
      'Der Anbieter hat die Anmeldung abgelehnt. Prüfen Sie, ob dieses Konto der Anwendung zugewiesen ist, und ob die Anwendung ihre Scopes anfordern darf.',
    'provider-failed':
      'Prüfen Sie Client-ID, Client-Geheimnis und Issuer, und ob die Control Plane den Anbieter erreichen darf (`--allow-egress` für private Netze).',
    'email-not-verified':
      'Dieser Typ lässt nur Konten mit bestätigter E-Mail-Adresse zu. Melden Sie sich mit einem anderen Konto an, oder bestätigen Sie die Adresse beim Anbieter.',
    'attempt-not-valid': 'Beginnen Sie den Test von vorn.',
    'provider-not-available': 'Der Anbieter wurde inzwischen gelöscht.',
    'too-many':
      'Zu viele Personen melden sich gerade mit diesem Anbieter an. Versuchen Sie es in einer Minute erneut.',
  },
  testRedirectUrl: 'Die Weiterleitungs-URL dieses Tests, die der Anbieter kennen muss:',
  testNotPermitted: 'Ihre Rolle erlaubt das nicht. Fragen Sie einen Administrator Ihrer Organisation.',
  testNoProvider: 'Diesen Anmeldeanbieter gibt es nicht, oder mit seinem Typ kann sich niemand anmelden.',
  testOver:
    'Dieser Test ist abgelaufen, wurde schon abgeschlossen oder von einer anderen Sitzung begonnen. Schließen Sie dieses Fenster, und beginnen Sie den Test von vorn.',
  testTooMany: 'Zu viele Tests sind fehlgeschlagen. Versuchen Sie es in einer Minute erneut.',
  testOtherAddress: (url) => `Der Test kehrt zu ${url} zurück. Öffnen Sie die Konsole unter dieser Adresse.`,
  person: 'Person',
  subject: 'Subject',
  verifiedEmail: 'Bestätigte E-Mail-Adresse',
  noVerifiedEmail: 'keine: Regeln zu E-Mail-Adressen lehnen diese Person ab',
  none: 'keine Angabe',
  groups: 'Gruppen',
  noGroups: 'keine: Regeln zu Gruppen lehnen diese Person ab',
  decisions: 'Was die Regeln entscheiden',
  noUses: 'Noch verwendet keine Freigabe und keine Anmeldung an der Konsole diesen Anbieter.',
  consoleDecision: (role) =>
    `Konsole: ${role === undefined ? 'keine Rolle, bis ein Administrator eine gibt' : `die Rolle ${role}`}`,
  shareAllowed: (token) => `Freigabe ${token}: erlaubt`,
  shareRefused: (token) => `Freigabe ${token}: abgelehnt, Grund:`,
  claims: 'Claims',
};
