import { ACCESS_WORDS } from '#contract/access-sentences';
import { defineText } from '../../text/define-text.ts';

const GERMAN_UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  days: ['Tag', 'Tage'],
  hours: ['Stunde', 'Stunden'],
  minutes: ['Minute', 'Minuten'],
  seconds: ['Sekunde', 'Sekunden'],
};

/** The words of the sentences about access. */
export const accessWords = defineText({
  en: ACCESS_WORDS,
  de: {
    either: (first: string, last: string) => `${first} oder ${last}`,
    both: (first: string, last: string) => `${first} und ${last}`,
    more: (count: string) => `${count} weitere`,
    nobody: 'Niemand hat Zugriff: Regeln zu E-Mail-Adressen oder Gruppen brauchen einen Anmeldedienst.',
    everyone: 'Alle können sie ohne Anmeldung öffnen, soweit keine Regel die Anfrage abweist.',
    signIn: (providers: string) => `Besucher melden sich mit ${providers} an.`,
    keys: (providers: string) => `Programme senden einen Schlüssel von ${providers}.`,
    disabled: (providers: string) => `Ausgeschaltet, damit kommt niemand hinein: ${providers}.`,
    emails: (patterns: string) => `Nur ${patterns}.`,
    groups: (values: string) => `Nur Mitglieder von ${values}.`,
    claim: (claim: string, values: string) => `Nur Personen, deren Claim ${claim} ${values} ist.`,
    users: (users: string) => `Mit Benutzername und Passwort: ${users}.`,
    certificate: 'Jeder Client legt ein Zertifikat einer vertrauenswürdigen Stelle vor.',
    certificateOf: (holders: string) =>
      `Jeder Client legt ein Zertifikat einer vertrauenswürdigen Stelle vor, ausgestellt für ${holders}.`,
    from: (networks: string) => `Nur aus ${networks}.`,
    notFrom: (networks: string) => `Nicht aus ${networks}.`,
    until: (date: string) => `Bis ${date}.`,
    closed: (date: string) => `Geschlossen seit ${date}.`,
    rate: (requests: string, span: string) =>
      `Höchstens ${requests} Anfragen je Aufrufer, Zeitraum: ${span}.`,
    paths: (paths: string) => `Alle können ${paths} ohne Anmeldung öffnen.`,
    session: (idle: string, absolute: string) =>
      `Dauer einer Sitzung: höchstens ${absolute}, ohne Nutzung ${idle}.`,
    origins: (origins: string) => `Seiten von ${origins} dürfen für angemeldete Personen Änderungen senden.`,
    preflights: 'CORS-Preflights erreichen den Dienst ohne Anmeldung.',
    timeout: (span: string) => `Der Dienst hat ${span} Zeit für seine Antwort.`,
    contact: (contact: string) => `Abgewiesene sehen ${contact}.`,
    cors: (origins: string) => `Seiten von ${origins} dürfen Antworten lesen.`,
    corsAny: 'Seiten aller Websites dürfen Antworten lesen.',
    corsWithSignIn: (origins: string) =>
      `Seiten von ${origins} dürfen Antworten lesen und für angemeldete Personen Anfragen senden.`,
    hsts: (span: string) => `Browser verwenden nach jedem Besuch ${span} lang nur HTTPS.`,
    hstsBelow: (span: string) =>
      `Browser verwenden nach jedem Besuch ${span} lang nur HTTPS, auch für Namen unter diesem.`,
    hstsPreload: (span: string) =>
      `Browser verwenden nach jedem Besuch ${span} lang nur HTTPS, auch für Namen unter diesem, und dürfen mit dieser Regel ausgeliefert werden.`,
    hstsEnds: 'Browser vergessen, dass sie nur HTTPS verwenden sollen.',
    redirect: (value: string) =>
      ({
        always: 'HTTP wird auf HTTPS umgeleitet.',
        never: 'HTTP wird nicht auf HTTPS umgeleitet.',
      })[value] ?? `Umleitung von HTTP auf HTTPS: ${value}.`,
    unknown: (field: string) => `Die Regel ${field} ist gesetzt; diese Version kann sie nicht beschreiben.`,
    span: (count: string, unit: string) => {
      const [one = unit, many = unit] = GERMAN_UNITS[unit] ?? [];
      return `${count} ${count === '1' ? one : many}`;
    },
  },
});
