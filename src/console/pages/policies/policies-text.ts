import { counted, defineText } from '../../text/define-text.ts';

/** Texts of shared policies. */
export const policiesText = defineText({
  en: {
    policies: 'Policies',
    intro:
      'A policy has access rules that several shares use. A change of the policy takes effect at all of them.',
    nothing: 'No policies yet.',
    nothingText:
      'Create a policy for rules that several shares have in common, such as “staff, from the office network”.',
    newPolicy: 'New policy',
    name: 'Name',
    nameHelp: 'Names the policy on the access pages of shares, on the command line and in files.',
    used: 'Used by',
    shares: (count: number, shown: string) => counted(count, shown, 'share', 'shares'),
    created: 'Created',
    create: 'Create policy',
    rulesOf: 'Rules',
    now: 'What it admits',
    providersText:
      'Sign-in providers are selected at each share: sessions and callback addresses belong to it.',
    usedBy: (count: number, shown: string) =>
      count === 0 ? 'Not used by any share' : `Used by ${counted(count, shown, 'share', 'shares')}`,
    unused: 'No share uses this policy yet.',
    more: (count: string) => `${count} more`,
    assign: 'Assign to shares',
    assignTitle: (policy: string) => `Assign ${policy} to shares`,
    sharesOf: 'Shares',
    assignText: 'Select shares that do not use this policy yet.',
    noOthers: 'No other public share matches.',
    next: 'Next',
    review: 'Review and save',
    save: 'Save',
    saved: 'Saved. Changes take effect at all shares within seconds.',
    discard: 'Discard changes',
    reviewNoShares: 'No share uses this policy, so the change affects no requests.',
    reviewNone: (shares: number, shown: string) =>
      `There are no recorded requests or failures of ${counted(shares, shown, 'share', 'shares')} to compare with. Turn on request recording at a share to collect some.`,
    reviewBasis: (requests: number, shown: string, shares: number, shownShares: string) =>
      `Compared with ${counted(requests, shown, 'recorded request or failure', 'recorded requests and failures')} of ${counted(shares, shownShares, 'share', 'shares')}.`,
    reviewPart: (shares: string, all: string) =>
      `Only the first ${shares} of ${all} shares by name were compared.`,
    deletePolicy: 'Delete this policy',
    deleteText: 'This cannot be undone.',
    deleteUsed: (tokens: string) =>
      `Used by ${tokens}. Assign another policy to these shares first, or let them keep the rules as their own.`,
  },
  de: {
    policies: 'Zugriffsrichtlinien',
    intro:
      'Eine Richtlinie hat Zugriffsregeln, die mehrere Freigaben verwenden. Eine Änderung der Richtlinie gilt für alle.',
    nothing: 'Noch keine Richtlinien.',
    nothingText:
      'Erstellen Sie eine Richtlinie für Regeln, die mehrere Freigaben gemeinsam haben, zum Beispiel „Mitarbeiter, aus dem Büronetz“.',
    newPolicy: 'Neue Richtlinie',
    name: 'Name',
    nameHelp: 'So heißt die Richtlinie bei Freigaben, auf der Kommandozeile und in Dateien.',
    used: 'Verwendet von',
    shares: (count: number, shown: string) => counted(count, shown, 'Freigabe', 'Freigaben'),
    created: 'Erstellt',
    create: 'Richtlinie erstellen',
    rulesOf: 'Regeln',
    now: 'Wer Zugriff hat',
    providersText:
      'Anmeldeanbieter werden bei jeder Freigabe ausgewählt: Sitzungen und Callback-Adressen gehören zu ihr.',
    usedBy: (count: number, shown: string) =>
      count === 0
        ? 'Von keiner Freigabe verwendet'
        : `Von ${counted(count, shown, 'Freigabe', 'Freigaben')} verwendet`,
    unused: 'Noch keine Freigabe verwendet diese Richtlinie.',
    more: (count: string) => `${count} weitere`,
    assign: 'Freigaben zuweisen',
    assignTitle: (policy: string) => `Freigaben zuweisen: ${policy}`,
    sharesOf: 'Freigaben',
    assignText: 'Wählen Sie Freigaben aus, die diese Richtlinie noch nicht verwenden.',
    noOthers: 'Keine weitere öffentliche Freigabe passt.',
    next: 'Weiter',
    review: 'Prüfen und speichern',
    save: 'Speichern',
    saved: 'Gespeichert. Änderungen gelten binnen Sekunden für alle Freigaben.',
    discard: 'Änderungen verwerfen',
    reviewNoShares:
      'Keine Freigabe verwendet diese Richtlinie. Die Änderung betrifft deshalb keine Anfragen.',
    reviewNone: (shares: number, shown: string) =>
      `Es gibt keine aufgezeichneten Anfragen oder Störungen von ${counted(shares, shown, 'Freigabe', 'Freigaben')} zum Vergleichen. Schalten Sie bei einer Freigabe die Aufzeichnung von Anfragen ein, um welche zu haben.`,
    reviewBasis: (requests: number, shown: string, shares: number, shownShares: string) =>
      `Verglichen mit ${counted(requests, shown, 'aufgezeichneten Anfrage oder Störung', 'aufgezeichneten Anfragen und Störungen')} von ${counted(shares, shownShares, 'Freigabe', 'Freigaben')}.`,
    reviewPart: (shares: string, all: string) =>
      `Nur die ersten ${shares} von ${all} Freigaben nach Namen wurden verglichen.`,
    deletePolicy: 'Richtlinie löschen',
    deleteText: 'Das lässt sich nicht rückgängig machen.',
    deleteUsed: (tokens: string) =>
      `Verwendet von ${tokens}. Weisen Sie diesen Freigaben zuerst eine andere Richtlinie zu, oder lassen Sie sie die Regeln als eigene behalten.`,
  },
});
