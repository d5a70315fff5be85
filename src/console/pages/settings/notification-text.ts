import type { NotificationEventType } from '#contract';
import { defineText } from '../../text/define-text.ts';

/** The events in the order of the form, and whether they are those of the installation. */
export const EVENTS = {
  'share.failing': false,
  'share.healthy': false,
  'agent.away': false,
  'agent.back': false,
  'certificate.expiring': false,
  'sign-in.new-network': false,
  'quota.reached': false,
  'router.lost': true,
  'router.back': true,
} as const satisfies Readonly<Record<NotificationEventType, boolean>>;

const eventEn = (type: string): string =>
  (
    {
      'share.failing': 'A share is failing',
      'share.healthy': 'A share is healthy again',
      'agent.away': 'An agent is away',
      'agent.back': 'An agent is connected again',
      'certificate.expiring': 'A certificate expires soon',
      'sign-in.new-network': 'Someone signs in to the console from a new network',
      'quota.reached': '80 % or all of a limit are used',
      'router.lost': 'A router is lost',
      'router.back': 'A router is connected again',
    } satisfies Record<NotificationEventType, string> as Record<string, string>
  )[type] ?? type;

const eventDe = (type: string): string =>
  (
    {
      'share.failing': 'Eine Freigabe ist gestört',
      'share.healthy': 'Eine Freigabe funktioniert wieder',
      'agent.away': 'Ein Agent ist nicht verbunden',
      'agent.back': 'Ein Agent ist wieder verbunden',
      'certificate.expiring': 'Ein Zertifikat läuft bald ab',
      'sign-in.new-network': 'Jemand meldet sich aus einem neuen Netz an der Konsole an',
      'quota.reached': '80 % oder ein ganzes Kontingent sind verbraucht',
      'router.lost': 'Ein Router ist ausgefallen',
      'router.back': 'Ein Router ist wieder verbunden',
    } satisfies Record<NotificationEventType, string> as Record<string, string>
  )[type] ?? type;

const stateEn = (state: string): string =>
  ({ PENDING: 'Waiting', DELIVERED: 'Delivered', FAILED: 'Failed' })[state] ?? state;
const stateDe = (state: string): string =>
  ({ PENDING: 'Wartet', DELIVERED: 'Zugestellt', FAILED: 'Fehlgeschlagen' })[state] ?? state;

/** Texts of the destinations of notifications. */
export const notificationText = defineText({
  en: {
    title: 'Notifications',
    intro:
      'Send a signed message to a webhook, or an email, when a share fails, an agent is away or a router is lost.',
    add: 'Add a webhook',
    addMail: 'Add email addresses',
    noMail: 'Email is not available: the operator has not configured a mail server (--smtp-host).',
    none: 'No one is notified of failures yet.',
    noneText:
      'Add the address of a service that receives webhooks, such as your pager, your chat or a program of your own.',
    name: 'Name',
    url: 'Webhook URL',
    addresses: 'Email addresses',
    addressesText: 'One address per line, at most 10. What happens within a minute is one email.',
    receivers: 'Sent to',
    urlText: 'An HTTPS address. Private addresses must be allowed by the operator (--allow-egress).',
    events: 'Notify of',
    eventName: eventEn,
    enabled: 'Send notifications to this webhook',
    mailEnabled: 'Send notifications to these addresses',
    state: 'State',
    working: 'Working',
    disabled: 'Disabled',
    unused: 'Nothing sent yet',
    failing: 'Failing',
    lastSuccess: 'Last delivered',
    lastProblem: 'Last problem',
    secret: 'Signing secret',
    created: 'Webhook created',
    secretText: 'Your receiver verifies the signature of each message with it.',
    test: 'Send test message',
    testDelivered: 'The webhook accepted the test message.',
    testMailDelivered: 'The mail server accepted the test message.',
    testFailed: (problem: string) => `The test message was not delivered: ${problem}`,
    rotate: 'Rotate secret',
    rotateText: 'Messages are signed with both secrets for a day, so that you can change the receiver.',
    rotated: 'Secret rotated',
    previousUntil: 'Previous secret signs until',
    remove: 'Delete webhook',
    removeMail: 'Delete email addresses',
    removeText: 'Messages that wait for it are not sent.',
    save: 'Save',
    settings: 'Settings',
    deliveries: 'Deliveries',
    noDeliveries: 'Nothing was sent yet.',
    event: 'Event',
    at: 'Time',
    attempts: 'Attempts',
    next: 'Next attempt',
    problem: 'Problem',
    stateName: stateEn,
    retry: 'Send again',
    any: 'Any',
  },
  de: {
    title: 'Benachrichtigungen',
    intro:
      'Eine signierte Nachricht an einen Webhook oder eine E-Mail senden, wenn eine Freigabe gestört ist, ein Agent fehlt oder ein Router ausfällt.',
    add: 'Webhook hinzufügen',
    addMail: 'E-Mail-Adressen hinzufügen',
    noMail: 'E-Mail ist nicht verfügbar: Der Betreiber hat keinen Mailserver eingerichtet (--smtp-host).',
    none: 'Bisher wird niemand über Störungen benachrichtigt.',
    noneText:
      'Fügen Sie die Adresse eines Dienstes hinzu, der Webhooks empfängt, etwa Ihrer Rufbereitschaft, Ihres Chats oder eines eigenen Programms.',
    name: 'Name',
    url: 'Webhook-URL',
    addresses: 'E-Mail-Adressen',
    addressesText:
      'Eine Adresse pro Zeile, höchstens 10. Was innerhalb einer Minute geschieht, wird zu einer E-Mail.',
    receivers: 'Gesendet an',
    urlText: 'Eine HTTPS-Adresse. Private Adressen muss der Betreiber erlauben (--allow-egress).',
    events: 'Benachrichtigen bei',
    eventName: eventDe,
    enabled: 'Benachrichtigungen an diesen Webhook senden',
    mailEnabled: 'Benachrichtigungen an diese Adressen senden',
    state: 'Zustand',
    working: 'Funktioniert',
    disabled: 'Deaktiviert',
    unused: 'Noch nichts gesendet',
    failing: 'Gestört',
    lastSuccess: 'Zuletzt zugestellt',
    lastProblem: 'Letztes Problem',
    secret: 'Signaturgeheimnis',
    created: 'Webhook angelegt',
    secretText: 'Ihr Empfänger prüft damit die Signatur jeder Nachricht.',
    test: 'Testnachricht senden',
    testDelivered: 'Der Webhook hat die Testnachricht angenommen.',
    testMailDelivered: 'Der Mailserver hat die Testnachricht angenommen.',
    testFailed: (problem: string) => `Die Testnachricht wurde nicht zugestellt: ${problem}`,
    rotate: 'Geheimnis erneuern',
    rotateText:
      'Einen Tag lang werden Nachrichten mit beiden Geheimnissen signiert, damit Sie den Empfänger umstellen können.',
    rotated: 'Geheimnis erneuert',
    previousUntil: 'Bisheriges Geheimnis signiert bis',
    remove: 'Webhook löschen',
    removeMail: 'E-Mail-Adressen löschen',
    removeText: 'Nachrichten, die noch warten, werden nicht gesendet.',
    save: 'Speichern',
    settings: 'Einstellungen',
    deliveries: 'Zustellungen',
    noDeliveries: 'Es wurde noch nichts gesendet.',
    event: 'Ereignis',
    at: 'Zeit',
    attempts: 'Versuche',
    next: 'Nächster Versuch',
    problem: 'Problem',
    stateName: stateDe,
    retry: 'Erneut senden',
    any: 'Alle',
  },
});
