/** Texts of custom domains. */
import { defineText } from '../../text/define-text.ts';

export const domainsText = defineText({
  en: {
    domains: 'Custom domains',
    frontends: 'Frontends',
    frontendName: 'Name',
    frontendUrl: 'Share address',
    noFrontends: 'This installation has no frontends. An operator adds one by starting a gateway.',
    own: 'Your custom domains',
    ownIntro: 'Public shares on a frontend are also available on your own domain.',
    newDomain: 'Add custom domain',
    hostname: 'Domain',
    hostnameHelp:
      'Each share gets a subdomain: with apps.example.com, the share shop is at shop.apps.example.com. You must own the domain.',
    frontend: 'Frontend',
    frontendHelp: 'Public shares on this frontend are available on the domain.',
    providers: 'Sign-in providers',
    providersHelp: 'These protect the shares on this domain that have no sign-in provider of their own.',
    providersNone:
      'Without a sign-in provider here, shares that have none of their own are open to everyone on this domain.',
    state: 'State',
    states: (status: string) =>
      ({ NEW: 'New', PENDING: 'Waiting for certificate', ACTIVE: 'Active' })[status] ?? status,
    stateWhy: (status: string) =>
      ({
        NEW: 'No gateway has reported this domain yet. This takes a few seconds once a gateway is connected.',
        PENDING: 'A gateway has no certificate for this domain. The gateway operator must add one.',
        ACTIVE: 'All gateways serve this domain.',
      })[status] ?? '',
    proof: 'Ownership',
    proofs: (proof: string) =>
      ({
        PENDING: 'Not verified yet',
        PROVEN: 'Verified',
        GRANTED: 'Granted by the operator',
        MISSING: 'TXT record missing',
      })[proof] ?? proof,
    proofWhy: (proof: string) =>
      ({
        PENDING:
          'The domain is not served until you have set the TXT record below, which proves that you own it.',
        MISSING:
          'The TXT record that proves ownership is missing. Restore it, or the domain stops being served.',
      })[proof] ?? '',
    proofEnds: (proof: string) => (proof === 'PENDING' ? 'Claim expires' : 'Served until'),
    certificateFor: 'Certificate required for',
    create: 'Add domain',
    save: 'Save sign-in providers',
    saved: 'Saved. Changes take effect within seconds.',
    nothing: 'No custom domains yet.',
    created: 'Created',
    records: 'DNS records',
    recordsIntro: 'Add these records at your DNS provider. Changes can take up to a day to become visible.',
    checkAgain: 'Check again',
    recordType: 'Type',
    recordName: 'Name',
    recordValue: 'Value',
    seen: 'Current DNS answer',
    notChecked: 'Not checked yet',
    seenStates: (state: string) =>
      ({
        correct: 'Correct',
        missing: 'Record not found',
        different: 'Record has a different value',
        unknown: 'DNS lookup failed',
      })[state] ?? state,
    lookedUp: (name: string) => `Looked up: ${name}`,
    found: (values: string) => `Found: ${values}`,
    checkedAt: 'Checked',
    deleteDomain: 'Delete this domain',
    deleteText:
      'Shares immediately stop being available on this domain. The name stays reserved for your organization for a while.',
  },
  de: {
    domains: 'Eigene Domains',
    frontends: 'Wo öffentliche Freigaben erscheinen',
    frontendName: 'Name',
    frontendUrl: 'Adresse einer Freigabe dort',
    noFrontends:
      'Diese Installation hat keinen öffentlichen Eingang. Wer sie betreibt, fügt einen durch ein Gateway hinzu.',
    own: 'Ihre eigenen Domains',
    ownIntro: 'Öffentliche Freigaben des gewählten Eingangs erscheinen auch unter einer eigenen Domain.',
    newDomain: 'Neue Domain',
    hostname: 'Domain',
    hostnameHelp:
      'Darunter erscheinen Freigaben: Aus shop wird shop.apps.example.com. Die Domain muss Ihnen gehören.',
    frontend: 'Eingang',
    frontendHelp: 'Öffentliche Freigaben dieses Eingangs erscheinen unter der Domain.',
    providers: 'Anmeldeanbieter',
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
      })[proof] ?? proof,
    proofWhy: (proof: string) =>
      ({
        PENDING: 'Sie wird nicht bedient, bis der TXT-Eintrag unten zeigt, dass die Domain Ihnen gehört.',
        MISSING:
          'Der TXT-Eintrag, der sie nachwies, fehlt. Setzen Sie ihn wieder, sonst wird die Domain nicht mehr bedient.',
      })[proof] ?? '',
    proofEnds: (proof: string) => (proof === 'PENDING' ? 'Anspruch endet' : 'Bedient bis'),
    certificateFor: 'Zertifikat nötig für',
    create: 'Domain anlegen',
    save: 'Anmeldeanbieter speichern',
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
    notChecked: 'Noch nicht geprüft',
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
