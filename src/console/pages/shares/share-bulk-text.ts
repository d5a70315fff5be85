import { defineText } from '../../text/define-text.ts';

/** Texts of changes of several shares. */
export const shareBulkText = defineText({
  en: {
    shares: (count: string) => `${count} shares`,
    actions: (kind: string) =>
      ({
        enable: 'Enable',
        disable: 'Disable',
        provider: 'Assign sign-in provider',
        policy: 'Assign policy',
        record: 'Record requests',
        delete: 'Delete',
      })[kind] ?? kind,
    titles: (kind: string, shares: string) =>
      ({
        enable: `Enable ${shares}`,
        disable: `Disable ${shares}`,
        provider: `Assign a sign-in provider to ${shares}`,
        policy: `Assign a policy to ${shares}`,
        record: `Record requests of ${shares}`,
        delete: `Delete ${shares}`,
      })[kind] ?? kind,
    accessSettings: 'Access settings',
    requests: 'Requests',
    settings: 'Settings',
    enableText:
      'Removes the end of access that has passed. All other access rules apply again. Shares that are not disabled stay as they are.',
    disableText:
      'Ends access now: every visitor is refused until the share is enabled again. Its address, its rules and its settings are kept. If an end of access is set for later, this replaces it.',
    privateShare: 'Private shares have no end of access. Remove their machines with access instead.',
    notDisabled: 'Not disabled: its access rules admit nobody. Change them in its access settings.',
    provider: 'Sign-in provider',
    providerText:
      'Visitors can then sign in with this provider, in addition to those that a share already has. A share that was open to everyone requires sign-in from then on.',
    policy: 'Policy',
    policyText:
      'The rules of the policy replace the own rules of the shares, which are then only in the activity log. Sign-in providers stay as they are.',
    ownRules: 'Rules of their own',
    ownText: 'The shares keep the rules that apply to them now, and no longer follow a policy.',
    privatePolicy: 'Private shares have no access rules: the machines with access are selected at the share.',
    recordText:
      'Headers and bodies of requests and responses are recorded for this time. Secrets are removed where they are recognized.',
    howLong: 'Record for',
    deleteText:
      'Their addresses stop working at once. Domains, rules and recorded requests of these shares are deleted with them. This cannot be undone.',
  },
  de: {
    shares: (count: string) => `${count} Freigaben`,
    actions: (kind: string) =>
      ({
        enable: 'Aktivieren',
        disable: 'Deaktivieren',
        provider: 'Anmeldedienst zuweisen',
        policy: 'Richtlinie zuweisen',
        record: 'Anfragen aufzeichnen',
        delete: 'Löschen',
      })[kind] ?? kind,
    titles: (kind: string, shares: string) =>
      ({
        enable: `${shares} aktivieren`,
        disable: `${shares} deaktivieren`,
        provider: `Anmeldedienst zuweisen: ${shares}`,
        policy: `Richtlinie zuweisen: ${shares}`,
        record: `Anfragen aufzeichnen: ${shares}`,
        delete: `${shares} löschen`,
      })[kind] ?? kind,
    accessSettings: 'Zugriff einstellen',
    requests: 'Anfragen',
    settings: 'Einstellungen',
    enableText:
      'Hebt das abgelaufene Ende des Zugriffs auf. Alle anderen Zugriffsregeln gelten wieder. Freigaben, die nicht deaktiviert sind, bleiben unverändert.',
    disableText:
      'Beendet den Zugriff sofort: Alle Besucher werden abgewiesen, bis die Freigabe wieder aktiviert wird. Adresse, Regeln und Einstellungen bleiben erhalten. Ein später gesetztes Ende des Zugriffs wird dadurch ersetzt.',
    privateShare:
      'Private Freigaben haben kein Ende des Zugriffs. Entfernen Sie stattdessen ihre berechtigten Rechner.',
    notDisabled:
      'Nicht deaktiviert: Ihre Zugriffsregeln lassen niemanden herein. Ändern Sie sie in den Zugriffseinstellungen.',
    provider: 'Anmeldedienst',
    providerText:
      'Besucher können sich dann auch mit diesem Dienst anmelden, zusätzlich zu den bisherigen. Eine Freigabe, die für alle offen war, verlangt von da an eine Anmeldung.',
    policy: 'Richtlinie',
    policyText:
      'Die Regeln der Richtlinie ersetzen die eigenen Regeln der Freigaben, die dann nur noch im Aktivitätsprotokoll stehen. Anmeldeanbieter bleiben, wie sie sind.',
    ownRules: 'Eigene Regeln',
    ownText:
      'Die Freigaben behalten die Regeln, die jetzt für sie gelten, und folgen keiner Richtlinie mehr.',
    privatePolicy:
      'Private Freigaben haben keine Zugriffsregeln: Die berechtigten Rechner werden bei der Freigabe ausgewählt.',
    recordText:
      'Header und Inhalte von Anfragen und Antworten werden so lange aufgezeichnet. Erkannte Geheimnisse werden entfernt.',
    howLong: 'Dauer der Aufzeichnung',
    deleteText:
      'Ihre Adressen funktionieren sofort nicht mehr. Domains, Regeln und aufgezeichnete Anfragen dieser Freigaben werden mitgelöscht. Das lässt sich nicht rückgängig machen.',
  },
});
