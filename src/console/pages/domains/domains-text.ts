/** Texts of domains. */
import { defineText } from '../../text/define-text.ts';

export const domainsText = defineText({
  en: {
    domains: 'Domains',
    frontends: 'Where public shares appear',
    frontendName: 'Name',
    frontendUrl: 'Address of a share there',
    noFrontends: 'This installation has no public entrance. Its operator adds one by starting a gateway.',
    own: 'Domains of your own',
    ownIntro: 'Public shares of the chosen entrance appear below a domain of yours, too.',
    newDomain: 'New domain',
    hostname: 'Domain',
    hostnameHelp:
      'Shares appear below it: shop becomes shop.apps.example.com. It has to be a domain that you own.',
    frontend: 'Entrance',
    frontendHelp: 'Public shares of this entrance appear below the domain.',
    providers: 'Log-ins',
    providersHelp: 'They guard the shares here that have no log-in of their own.',
    providersNone: 'Without one, shares that have no log-in of their own are open to everybody here.',
    state: 'State',
    states: (status: string) =>
      ({ NEW: 'New', PENDING: 'Waiting for its certificate', ACTIVE: 'Works' })[status] ?? status,
    stateWhy: (status: string) =>
      ({
        NEW: 'No gateway has reported it yet. That takes seconds once one is connected.',
        PENDING: 'A gateway lacks a certificate for it. The operator of the gateways has to add one.',
        ACTIVE: 'Every gateway serves it.',
      })[status] ?? '',
    proof: 'Proof',
    proofs: (proof: string) =>
      ({
        PENDING: 'Not proven yet',
        PROVEN: 'Proven',
        GRANTED: 'Granted by the operator',
        MISSING: 'The record is gone',
        ASKED: 'To be proven',
      })[proof] ?? proof,
    proofWhy: (proof: string) =>
      ({
        PENDING: 'It is not served until the TXT record below shows that the domain is yours.',
        MISSING: 'The TXT record that proved it is gone. Set it again, or the domain is no longer served.',
        ASKED: 'It is served, but nothing proves yet that the domain is yours. Set the TXT record below.',
      })[proof] ?? '',
    proofEnds: (proof: string) => (proof === 'PENDING' ? 'Claim ends' : 'Served until'),
    certificateFor: 'Certificate needed for',
    create: 'Create domain',
    save: 'Save log-ins',
    saved: 'Saved. Gateways follow within seconds.',
    nothing: 'There is no domain of your own yet.',
    created: 'Created',
    records: 'DNS records',
    recordsIntro:
      'Set these records at the provider of your DNS. Changes there can take up to a day to be seen.',
    checkAgain: 'Check again',
    recordType: 'Type',
    recordName: 'Name',
    recordValue: 'Value',
    seen: 'What DNS says now',
    seenStates: (state: string) =>
      ({
        correct: 'As it should be',
        missing: 'There is no record yet',
        different: 'The record leads elsewhere',
        unknown: 'DNS did not answer',
      })[state] ?? state,
    lookedUp: (name: string) => `Looked up: ${name}`,
    found: (values: string) => `Found: ${values}`,
    checkedAt: 'Checked',
    deleteDomain: 'Delete this domain',
    deleteText:
      'Shares are not reached below it any more, at once. The name stays with your organization for a while.',
  },
  de: {
    domains: 'Domains',
    frontends: 'Wo öffentliche Freigaben erscheinen',
    frontendName: 'Name',
    frontendUrl: 'Adresse einer Freigabe dort',
    noFrontends:
      'Diese Installation hat keinen öffentlichen Eingang. Wer sie betreibt, fügt einen durch ein Gateway hinzu.',
    own: 'Eigene Domains',
    ownIntro: 'Öffentliche Freigaben des gewählten Eingangs erscheinen auch unter einer eigenen Domain.',
    newDomain: 'Neue Domain',
    hostname: 'Domain',
    hostnameHelp:
      'Darunter erscheinen Freigaben: Aus shop wird shop.apps.example.com. Die Domain muss Ihnen gehören.',
    frontend: 'Eingang',
    frontendHelp: 'Öffentliche Freigaben dieses Eingangs erscheinen unter der Domain.',
    providers: 'Anmeldungen',
    providersHelp: 'Sie schützen hier die Freigaben ohne eigene Anmeldung.',
    providersNone: 'Ohne Anmeldung sind Freigaben ohne eigene Anmeldung hier für alle offen.',
    state: 'Zustand',
    states: (status: string) =>
      ({ NEW: 'Neu', PENDING: 'Wartet auf ihr Zertifikat', ACTIVE: 'Läuft' })[status] ?? status,
    stateWhy: (status: string) =>
      ({
        NEW: 'Noch kein Gateway hat sie gemeldet. Das dauert Sekunden, sobald eines verbunden ist.',
        PENDING:
          'Einem Gateway fehlt ein Zertifikat dafür. Wer die Gateways betreibt, muss eines hinzufügen.',
        ACTIVE: 'Jedes Gateway bedient sie.',
      })[status] ?? '',
    proof: 'Nachweis',
    proofs: (proof: string) =>
      ({
        PENDING: 'Noch nicht nachgewiesen',
        PROVEN: 'Nachgewiesen',
        GRANTED: 'Vom Betreiber bewilligt',
        MISSING: 'Der Eintrag fehlt',
        ASKED: 'Nachzuweisen',
      })[proof] ?? proof,
    proofWhy: (proof: string) =>
      ({
        PENDING: 'Sie wird nicht bedient, bis der TXT-Eintrag unten zeigt, dass die Domain Ihnen gehört.',
        MISSING:
          'Der TXT-Eintrag, der sie nachwies, fehlt. Setzen Sie ihn wieder, sonst wird die Domain nicht mehr bedient.',
        ASKED:
          'Sie wird bedient, aber noch zeigt nichts, dass die Domain Ihnen gehört. Setzen Sie den TXT-Eintrag unten.',
      })[proof] ?? '',
    proofEnds: (proof: string) => (proof === 'PENDING' ? 'Anspruch endet' : 'Bedient bis'),
    certificateFor: 'Zertifikat nötig für',
    create: 'Domain anlegen',
    save: 'Anmeldungen speichern',
    saved: 'Gespeichert. Die Gateways folgen binnen Sekunden.',
    nothing: 'Es gibt noch keine eigene Domain.',
    created: 'Erstellt',
    records: 'DNS-Einträge',
    recordsIntro:
      'Setzen Sie diese Einträge beim Anbieter Ihres DNS. Änderungen dort sind mitunter erst nach einem Tag zu sehen.',
    checkAgain: 'Erneut prüfen',
    recordType: 'Art',
    recordName: 'Name',
    recordValue: 'Wert',
    seen: 'Was DNS jetzt sagt',
    seenStates: (state: string) =>
      ({
        correct: 'Wie es sein soll',
        missing: 'Es gibt noch keinen Eintrag',
        different: 'Der Eintrag führt woanders hin',
        unknown: 'DNS hat nicht geantwortet',
      })[state] ?? state,
    lookedUp: (name: string) => `Abgefragt: ${name}`,
    found: (values: string) => `Gefunden: ${values}`,
    checkedAt: 'Geprüft',
    deleteDomain: 'Diese Domain löschen',
    deleteText:
      'Freigaben sind darunter sofort nicht mehr erreichbar. Der Name bleibt Ihrer Organisation eine Weile erhalten.',
  },
});
