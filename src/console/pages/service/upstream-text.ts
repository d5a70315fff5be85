import { defineText } from '../../text/define-text.ts';

/** Texts of how requests reach the service of a share. Each field has its label and, below `Help`, one or two sentences. */
export const upstreamText = defineText({
  en: {
    title: 'Connection to the service',
    intro: 'Most services work with the defaults. Changes apply to new requests within seconds.',
    noSettings:
      'Connections reach this service unchanged, so there is nothing to set. Public shares of HTTP services and services at https addresses have settings here.',
    requests: 'Requests to the service',
    responses: 'Responses to clients',
    paths: 'Paths',
    unavailable: 'Maintenance and errors',
    certificate: 'Certificate of the service',
    certificateIntro:
      'By default, the agent verifies the certificate as a browser does. If the service has a self-signed certificate, accept that certificate or add its authority.',
    presented: 'The agent refused the certificate of this service. This is its SHA-256 fingerprint:',
    presentedHelp:
      'Compare it with the fingerprint that the service itself shows. If they are equal, accept the certificate and save.',
    acceptCertificate: 'Accept this certificate',
    hostHeader: 'Host header',
    hostHeaderHelp:
      'Some services only accept host names that they know. If the header is replaced, addresses in redirects and cookies are rewritten.',
    hostPreserve: 'The host that the client requested',
    hostTarget: 'The host of the service address',
    hostOther: 'Another host',
    hostName: 'Host',
    hostNameHelp: 'With or without a port, such as localhost or localhost:3000.',
    requestHeaders: 'Request headers',
    requestHeadersHelp: 'Set, add or remove headers before requests reach the service.',
    responseHeaders: 'Response headers',
    responseHeadersHelp: 'Set, add or remove headers before responses reach clients.',
    lenient: 'Accept obsolete forms of responses',
    lenientHelp:
      'Old devices send lines without CR or a space before a colon. Frontdoor corrects such responses instead of refusing them.',
    compression: 'Compression',
    compressionHelp:
      'List zstd, br or gzip, separated by commas, the preferred one first. If empty, responses are not compressed. Do not compress pages with secrets such as CSRF tokens that never change.',
    proxyProtocol: 'PROXY protocol',
    proxyProtocolHelp:
      'off, v1 or v2. The agent names the client at the beginning of each connection, and the service must expect that.',
    connectTimeoutSeconds: 'Time limit for connecting, in seconds',
    connectTimeoutSecondsHelp: 'From 1 to 5 seconds, with the TLS handshake.',
    idleTimeoutSeconds: 'Time limit without data, in seconds',
    idleTimeoutSecondsHelp:
      'A response or WebSocket without a byte in either direction ends after this time, at most 86,400 seconds.',
    routes: 'Services by path',
    routesHelp:
      'Other services of the same agent for paths of this share. The longest path counts. All other requests go to the service address of the share.',
    answers: 'Answers of the gateway',
    answersHelp:
      'Paths that the gateway answers itself, also while the service is down. A single path counts before /*, and a longer /* before a shorter one. Access rules apply first.',
    maintenance: 'Maintenance',
    maintenanceHelp:
      'The gateway answers all requests with 503 until you turn this off. Open downloads and WebSockets continue.',
    maintenanceText: 'Message during maintenance',
    maintenanceTextHelp: 'If empty, visitors read that the service is under maintenance.',
    maintenanceRetrySeconds: 'Retry after, in seconds',
    maintenanceRetrySecondsHelp: 'When clients should try again, from 1 to 604,800 seconds.',
    errorPage: 'Error page (HTML)',
    errorPageHelp:
      'Shown to browsers during maintenance and when the service cannot be reached. {{status}}, {{message}} and {{errorId}} are replaced. Scripts do not run, and only inline styles and data: images are loaded.',
    tlsPin: 'Accepted certificate (SHA-256 fingerprint)',
    tlsPinHelp:
      'The agent accepts only this certificate, whatever its name and expiry date. If empty, the certificate is verified.',
    tlsCa: 'Certificate authorities',
    tlsCaHelp: 'PEM certificates. If empty, the agent trusts the authorities of its machine.',
    tlsServerName: 'Server name',
    tlsServerNameHelp:
      'The name in the certificate, if it differs from the host of the service address, such as pve.example.com.',
    tlsClient: 'Client certificate',
    tlsClientHelp:
      'The name of a client certificate that the agent was started with (--target-client-certificate NAME=FILE). If empty, the agent presents the one without a name, if it has one.',
    tlsInsecure: 'Do not verify the certificate',
    tlsInsecureHelp: 'Use this only if the agent and the service are on the same machine.',
    tlsInsecureWarning:
      'Anyone on the network between the agent and the service can read and change all traffic, passwords included.',
    action: 'Action',
    actionOf: (action: string) => ({ set: 'Set', add: 'Add', remove: 'Remove' })[action] ?? action,
    name: 'Name',
    value: 'Value',
    headerOf: (number: string) => `Header ${number}`,
    addRequestHeader: 'Add a request header',
    addResponseHeader: 'Add a response header',
    removeHeader: (name: string) => `Remove: ${name}`,
    reset: 'Use the defaults',
    resetTitle: 'Use the defaults?',
    resetText: 'All settings on this page return to their defaults. The target and the policy stay.',
    roleTooLow: 'Your role does not allow you to change these settings.',
  },
  de: {
    title: 'Verbindung zum Dienst',
    intro: 'Die meisten Dienste brauchen nichts davon. Änderungen gelten binnen Sekunden für neue Anfragen.',
    noSettings:
      'Verbindungen erreichen diesen Dienst unverändert, daher gibt es nichts einzustellen. Einstellungen haben öffentliche Freigaben von HTTP-Diensten und Dienste mit https-Adresse.',
    requests: 'Anfragen an den Dienst',
    responses: 'Antworten an Clients',
    paths: 'Pfade',
    unavailable: 'Wartung und Fehler',
    certificate: 'Zertifikat des Dienstes',
    certificateIntro:
      'Normalerweise prüft der Agent das Zertifikat wie ein Browser. Hat der Dienst ein selbst signiertes, akzeptieren Sie dieses oder geben Sie seine Zertifizierungsstelle an.',
    presented: 'Der Agent hat das Zertifikat dieses Dienstes abgelehnt. Dies ist sein SHA-256-Fingerabdruck:',
    presentedHelp:
      'Vergleichen Sie ihn mit dem, den der Dienst selbst zeigt. Sind beide gleich, akzeptieren Sie das Zertifikat und speichern Sie.',
    acceptCertificate: 'Dieses Zertifikat akzeptieren',
    hostHeader: 'Host-Header',
    hostHeaderHelp:
      'Manche Dienste nehmen nur Hostnamen an, die sie kennen. Wird der Header ersetzt, werden Adressen in Umleitungen und Cookies umgeschrieben.',
    hostPreserve: 'Der Host, den der Client angefragt hat',
    hostTarget: 'Der Host aus der Adresse des Dienstes',
    hostOther: 'Ein anderer Host',
    hostName: 'Host',
    hostNameHelp: 'Mit oder ohne Port, zum Beispiel localhost oder localhost:3000.',
    requestHeaders: 'Header von Anfragen',
    requestHeadersHelp: 'Header setzen, hinzufügen oder entfernen, bevor Anfragen den Dienst erreichen.',
    responseHeaders: 'Header von Antworten',
    responseHeadersHelp: 'Header setzen, hinzufügen oder entfernen, bevor Antworten die Clients erreichen.',
    lenient: 'Veraltete Formen von Antworten annehmen',
    lenientHelp:
      'Alte Geräte senden Zeilen ohne CR oder ein Leerzeichen vor einem Doppelpunkt. Frontdoor berichtigt solche Antworten, statt sie abzuweisen.',
    compression: 'Komprimierung',
    compressionHelp:
      'Aus zstd, br und gzip, durch Kommas getrennt, das bevorzugte zuerst. Ist das Feld leer, werden Antworten nicht komprimiert. Komprimieren Sie keine Seiten mit Geheimnissen wie CSRF-Tokens, die sich nie ändern.',
    proxyProtocol: 'PROXY-Protokoll',
    proxyProtocolHelp:
      'off, v1 oder v2. Der Agent nennt den Client am Anfang jeder Verbindung, und der Dienst muss das erwarten.',
    connectTimeoutSeconds: 'Zeitlimit für den Verbindungsaufbau in Sekunden',
    connectTimeoutSecondsHelp: 'Von 1 bis 5 Sekunden, einschließlich des TLS-Handshakes.',
    idleTimeoutSeconds: 'Zeitlimit ohne Daten in Sekunden',
    idleTimeoutSecondsHelp:
      'Eine Antwort oder ein WebSocket ohne ein Byte in beiden Richtungen endet nach dieser Zeit, höchstens 86.400 Sekunden.',
    routes: 'Dienste nach Pfad',
    routesHelp:
      'Andere Dienste desselben Agenten für Pfade dieser Freigabe. Der längste Pfad zählt. Alle übrigen Anfragen gehen an die Adresse der Freigabe.',
    answers: 'Antworten des Gateways',
    answersHelp:
      'Pfade, die das Gateway selbst beantwortet, auch wenn der Dienst nicht läuft. Ein einzelner Pfad zählt vor /*, ein längerer mit /* vor einem kürzeren. Zugriffsregeln gelten zuerst.',
    maintenance: 'Wartung',
    maintenanceHelp:
      'Das Gateway beantwortet alle Anfragen mit 503, bis Sie dies ausschalten. Laufende Downloads und WebSockets bleiben bestehen.',
    maintenanceText: 'Nachricht während der Wartung',
    maintenanceTextHelp: 'Ist das Feld leer, lesen Besucher, dass der Dienst gewartet wird.',
    maintenanceRetrySeconds: 'Erneut versuchen nach (Sekunden)',
    maintenanceRetrySecondsHelp: 'Wann Clients es wieder versuchen sollen, 1 bis 604.800 Sekunden.',
    errorPage: 'Fehlerseite (HTML)',
    errorPageHelp:
      'Erscheint in Browsern während der Wartung und wenn der Dienst nicht erreichbar ist. {{status}}, {{message}} und {{errorId}} werden ersetzt. Skripte laufen nicht, und nur eingebettete Stile und Bilder als data: werden geladen.',
    tlsPin: 'Akzeptiertes Zertifikat (SHA-256-Fingerabdruck)',
    tlsPinHelp:
      'Der Agent nimmt nur dieses Zertifikat an, unabhängig von Namen und Ablaufdatum. Leer: Das Zertifikat wird geprüft.',
    tlsCa: 'Zertifizierungsstellen',
    tlsCaHelp: 'PEM-Zertifikate. Leer: die Stellen, denen die Maschine des Agenten vertraut.',
    tlsServerName: 'Servername',
    tlsServerNameHelp:
      'Der Name im Zertifikat, falls er vom Host der Adresse abweicht, zum Beispiel pve.example.com.',
    tlsClient: 'Client-Zertifikat',
    tlsClientHelp:
      'Der Name eines Client-Zertifikats, mit dem der Agent gestartet wurde (--target-client-certificate NAME=DATEI). Leer: das ohne Namen, falls der Agent eines hat.',
    tlsInsecure: 'Das Zertifikat nicht prüfen',
    tlsInsecureHelp: 'Nur verwenden, wenn Agent und Dienst auf derselben Maschine laufen.',
    tlsInsecureWarning:
      'Alle im Netz zwischen Agent und Dienst können den gesamten Verkehr lesen und ändern, auch Passwörter.',
    action: 'Aktion',
    actionOf: (action: string) =>
      ({ set: 'Setzen', add: 'Hinzufügen', remove: 'Entfernen' })[action] ?? action,
    name: 'Name',
    value: 'Wert',
    headerOf: (number: string) => `Header ${number}`,
    addRequestHeader: 'Header für Anfragen hinzufügen',
    addResponseHeader: 'Header für Antworten hinzufügen',
    removeHeader: (name: string) => `Entfernen: ${name}`,
    reset: 'Vorgaben verwenden',
    resetTitle: 'Vorgaben verwenden?',
    resetText:
      'Alle Einstellungen dieser Seite kehren zu ihren Vorgaben zurück. Adresse und Richtlinie bleiben.',
    roleTooLow: 'Ihre Rolle erlaubt nicht, diese Einstellungen zu ändern.',
  },
});
