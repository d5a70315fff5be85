import { defineText } from '../../text/define-text.ts';

/** Texts of the domains of one share. */
export const shareDomainsText = defineText({
  en: {
    title: 'Domains of this share',
    intro: 'A public share is also available at domains of yours, such as app.example.com.',
    privateShare: 'Only public shares can have domains. This share is private, and is not available at any.',
    hostnameHelp: 'A DNS name that you own, such as app.example.com. The DNS records to set are shown next.',
    add: 'Add domain',
    added: (hostname: string) => `Added ${hostname}. Set the DNS records shown below.`,
    stateWhy: (proof: string) =>
      ({
        PENDING:
          'Waiting for the TXT record below, which proves that you own the domain. Until then, the share is not available here.',
        PROVEN: 'Active: the share is available here.',
        GRANTED: 'Active: the share is available here, and no TXT record is needed.',
        MISSING:
          'The TXT record that proves ownership is missing. Restore it, or the share stops being available here.',
      })[proof] ?? '',
    certificate: (state: string) =>
      ({
        NONE: 'Certificate: none yet. It is issued at the first visit over HTTPS.',
        VALID: 'Certificate: valid until',
        EXPIRED: 'Certificate: expired on',
        FAILED: 'Certificate: not issued.',
      })[state] ?? state,
    orderFailed: (problem: string) => `The last attempt failed: ${problem}.`,
    nextOrder: 'Next attempt possible',
    orderRemedy:
      'The domain must lead to a gateway, its port 80 must be reachable, and CAA records must allow the certificate authority.',
    recordsOf: (hostname: string) => `DNS records of ${hostname}`,
    check: 'Check now',
    remove: 'Remove',
    removeTitle: (hostname: string) => `Remove ${hostname}`,
    removeText:
      'The share immediately stops being available at this domain. The name stays reserved for your organization for 30 days.',
  },
  de: {
    title: 'Domains dieser Freigabe',
    intro: 'Eine öffentliche Freigabe erscheint auch unter eigenen Domains, etwa app.example.com.',
    privateShare:
      'Nur öffentliche Freigaben können Domains haben. Diese ist privat und unter keiner erreichbar.',
    hostnameHelp:
      'Ein DNS-Name, der Ihnen gehört, etwa app.example.com. Die nötigen DNS-Einträge erscheinen danach.',
    add: 'Domain hinzufügen',
    added: (hostname: string) => `${hostname} ist hinzugefügt. Setzen Sie die DNS-Einträge unten.`,
    stateWhy: (proof: string) =>
      ({
        PENDING:
          'Wartet auf den TXT-Eintrag unten, der zeigt, dass die Domain Ihnen gehört. Bis dahin ist die Freigabe hier nicht erreichbar.',
        PROVEN: 'Aktiv: Die Freigabe ist hier erreichbar.',
        GRANTED: 'Aktiv: Die Freigabe ist hier erreichbar und braucht keinen TXT-Eintrag.',
        MISSING:
          'Der TXT-Eintrag, der sie nachwies, fehlt. Setzen Sie ihn wieder, sonst ist die Freigabe hier nicht mehr erreichbar.',
      })[proof] ?? '',
    certificate: (state: string) =>
      ({
        NONE: 'Zertifikat: noch keins. Es wird beim ersten Besuch über HTTPS ausgestellt.',
        VALID: 'Zertifikat: gültig bis',
        EXPIRED: 'Zertifikat: abgelaufen am',
        FAILED: 'Zertifikat: nicht ausgestellt.',
      })[state] ?? state,
    orderFailed: (problem: string) => `Der letzte Versuch ist gescheitert: ${problem}.`,
    nextOrder: 'Nächster Versuch möglich',
    orderRemedy:
      'Die Domain muss zu einem Gateway führen, dessen Port 80 erreichbar sein muss, und CAA-Einträge müssen die Zertifizierungsstelle zulassen.',
    recordsOf: (hostname: string) => `DNS-Einträge von ${hostname}`,
    check: 'Jetzt prüfen',
    remove: 'Entfernen',
    removeTitle: (hostname: string) => `${hostname} entfernen`,
    removeText:
      'Die Freigabe ist unter dieser Domain sofort nicht mehr erreichbar. Der Name bleibt Ihrer Organisation 30 Tage erhalten.',
  },
});
