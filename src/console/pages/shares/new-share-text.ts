import { counted, defineText } from '../../text/define-text.ts';

/** Texts of the form of a new share; the settings of a share use those of its fields, too. */
export const newShareText = defineText({
  en: {
    title: 'Publish a service',
    shares: 'Shares',
    steps: 'Steps',
    step: (step: string) => ({ what: 'Service', where: 'Address', who: 'Access' })[step] ?? step,
    stepOf: (at: string, of: string) => `Step ${at} of ${of}`,
    next: 'Next',
    back: 'Back',
    publish: 'Publish',
    agent: 'Agent next to the service',
    chooseAgent: 'Select an agent',
    agentAway: (name: string) => `${name} (disconnected)`,
    agentFilter: 'Agent name contains',
    noAgents: 'No agents yet. First add one on the machine next to your service.',
    addAgent: 'Add an agent',
    target: 'Service address',
    targetHint: (examples: string) =>
      `The address as seen from the agent’s machine, for example ${examples}. The agent must have been started with --allow-target for this address.`,
    targetBecomes: (target: string) => `Uses ${target}.`,
    mode: 'Visibility',
    public: 'Public',
    publicHint:
      'The service has an address on the gateways. Sign-in providers and policies control access to HTTP services, address rules access to TCP and UDP services.',
    private: 'Private',
    privateHint:
      'The service has no web address. Only machines that you select reach it, through an agent or an SDK.',
    name: 'Name',
    nameHint: '1 to 63 characters: a to z, 0 to 9 and hyphens. If empty, a random name is used.',
    willBe: 'Address',
    ingress: 'How clients connect',
    ingressKind: (kind: string) =>
      ({
        port: 'To a port of its own',
        tls: 'With TLS that ends at the gateway',
        'tls-passthrough': 'With TLS that ends at the service',
      })[kind] ?? kind,
    ingressHint: (kind: string) =>
      ({
        port: 'Any protocol. Gateways pass its bytes on unchanged.',
        tls: 'Clients begin with TLS at the HTTPS port and name the share. The gateway shows its certificate, and passes on what is inside.',
        'tls-passthrough':
          'Clients begin with TLS at the HTTPS port and name the share. The gateway reads only that name: certificate and key are those of the service.',
      })[kind] ?? '',
    port: 'Port',
    portHint:
      'A port of the gateways at which clients reach this service, for example 20001. If empty, a free port is used and kept.',
    frontends: 'Frontends',
    frontendsHint: 'The frontends that serve the share. If none is selected, the default frontend is used.',
    noFrontends: 'No frontends. An operator of this installation adds them.',
    guard: 'Who can access it?',
    guardProviders: 'People and programs that authenticate',
    guardProvidersHint: 'Visitors must sign in with one of the providers that you select.',
    guardEverybody: 'Everyone, without authentication',
    everybodyWarning:
      'Anyone who knows or guesses the address can reach this service, including search engines and attackers. Only publish services without authentication that are meant to be public. You can add a policy (networks, rate limits, passwords) afterwards.',
    streamWarning:
      'Nobody can sign in here: anyone who reaches the address reaches this service, so the service itself must authenticate its clients. You can restrict it to networks, limit the rate of connections and set an end afterwards, in the access rules.',
    providers: 'Sign-in providers',
    noProviders: 'No sign-in providers yet.',
    addProvider: 'Add a sign-in provider',
    disabled: (name: string) => `${name} (disabled)`,
    grants: 'Machines with access',
    grantsHint: 'You can also select machines later. Until then, nobody can reach the share.',
    noMachines: 'No other machines yet.',
    filter: 'Filter',
    chosen: (count: number, shown: string) => counted(count, shown, 'selected', 'selected'),
    firstOnly: (count: string) => `Showing the first ${count}. Enter part of a name to find others.`,
    lack: (lack: string) =>
      ({
        environmentId: 'Select the agent next to the service.',
        target: 'Enter the address of the service.',
        guard: 'Choose who can access the service.',
        authProviderIds: 'Select at least one sign-in provider.',
      })[lack] ?? lack,
    askToCreate:
      'Your role does not allow you to publish services. Ask an administrator of your organization.',
    published: 'Published',
    publishedAt: 'Your service is available at this address:',
    publishedPrivate: 'Machines with access open it with their own agent:',
    command: 'Command',
    waits: 'Checking the connection to your service…',
    works: 'Your service is reachable.',
    fails: (reason: string) => `Your service is not reachable yet: ${reason}`,
    unknownState: (state: string) => `State: ${state}`,
    toShare: 'View share',
    toAccess: 'More access rules',
    another: 'Publish another service',
  },
  de: {
    title: 'Dienst freigeben',
    shares: 'Freigaben',
    steps: 'Schritte',
    step: (step: string) => ({ what: 'Was', where: 'Wo', who: 'Wer hereinkommt' })[step] ?? step,
    stepOf: (at: string, of: string) => `Schritt ${at} von ${of}`,
    next: 'Weiter',
    back: 'Zurück',
    publish: 'Freigeben',
    agent: 'Agent neben dem Dienst',
    chooseAgent: 'Agenten wählen',
    agentAway: (name: string) => `${name} (weg)`,
    agentFilter: 'Name des Agenten enthält',
    noAgents: 'Es gibt noch keinen Agenten. Fügen Sie zuerst einen auf dem Rechner neben Ihrem Dienst hinzu.',
    addAgent: 'Agent hinzufügen',
    target: 'Adresse des Dienstes',
    targetHint: (examples: string) =>
      `Vom Rechner des Agenten aus gesehen, zum Beispiel ${examples}. Der Agent nimmt sie nur an, wenn er mit --allow-target dafür gestartet wurde.`,
    targetBecomes: (target: string) => `Das ist ${target}.`,
    mode: 'Erreichbar für',
    public: 'Alle, die die Adresse haben',
    publicHint:
      'Eine Adresse auf den Gateways. Anmeldungen und Regeln bestimmen, wer hereinkommt; bei TCP und UDP bestimmen es Regeln über Netze.',
    private: 'Nur ausgewählte Rechner',
    privateHint: 'Keine Webadresse. Rechner mit Agent oder SDK erreichen sie durch das Overlay.',
    name: 'Name',
    nameHint:
      '1 bis 63 aus a bis z, 0 bis 9 und Bindestrichen. Ohne Namen wählt die Control Plane einen zufälligen.',
    willBe: 'Ihre Adresse',
    ingress: 'Verbindung',
    ingressKind: (kind: string) =>
      ({
        port: 'An einem eigenen Port',
        tls: 'Mit TLS, das am Gateway endet',
        'tls-passthrough': 'Mit TLS, das am Dienst endet',
      })[kind] ?? kind,
    ingressHint: (kind: string) =>
      ({
        port: 'Jedes Protokoll. Die Gateways leiten seine Bytes unverändert weiter.',
        tls: 'Clients beginnen am HTTPS-Port mit TLS und nennen die Freigabe. Das Gateway zeigt sein Zertifikat und leitet weiter, was darin ist.',
        'tls-passthrough':
          'Clients beginnen am HTTPS-Port mit TLS und nennen die Freigabe. Das Gateway liest nur diesen Namen: Zertifikat und Schlüssel hat der Dienst.',
      })[kind] ?? '',
    port: 'Port',
    portHint:
      'Ein Port der Gateways, an dem der Dienst erreichbar ist, zum Beispiel 20001. Ohne Angabe ein freier, der so bleibt.',
    frontends: 'Frontends',
    frontendsHint: 'Wo die Gateways sie anbieten. Nichts gewählt: das voreingestellte.',
    noFrontends: 'Es gibt kein Frontend: der Betreiber dieser Installation fügt sie hinzu.',
    guard: 'Melden sich Besucher an?',
    guardProviders: 'Nur Personen oder Programme, die sich anmelden',
    guardProvidersHint: 'Mit einer der Anmeldungen, die Sie wählen.',
    guardEverybody: 'Alle, ohne Anmeldung',
    everybodyWarning:
      'Alle, die die Adresse kennen oder erraten, erreichen diesen Dienst, auch Suchmaschinen und Angreifer. Geben Sie nichts ohne Anmeldung frei, das nicht dafür gemacht ist. Eine Richtlinie (Netze, Raten, Passwörter) lässt sich danach hinzufügen.',
    streamWarning:
      'Hier kann sich niemand anmelden: Wer die Adresse erreicht, erreicht diesen Dienst, der seine Nutzer also selbst prüfen muss. Netze, Raten und ein Ende lassen sich danach in den Regeln festlegen.',
    providers: 'Anmeldungen',
    noProviders: 'Es gibt noch keine Anmeldung für Besucher.',
    addProvider: 'Anmeldung hinzufügen',
    disabled: (name: string) => `${name} (ausgeschaltet)`,
    grants: 'Rechner, die sie erreichen dürfen',
    grantsHint: 'Sie können sie auch später wählen. Bis dahin erreicht sie niemand.',
    noMachines: 'Es gibt noch keine anderen Rechner.',
    filter: 'Filtern',
    chosen: (count: number, shown: string) => counted(count, shown, 'gewählt', 'gewählt'),
    firstOnly: (count: string) =>
      `Gezeigt werden die ersten ${count}. Geben Sie einen Teil des Namens ein, um andere zu finden.`,
    lack: (lack: string) =>
      ({
        environmentId: 'Wählen Sie den Agenten neben dem Dienst.',
        target: 'Geben Sie die Adresse des Dienstes ein.',
        guard: 'Wählen Sie, wer hereinkommt.',
        authProviderIds: 'Wählen Sie mindestens eine Anmeldung.',
      })[lack] ?? lack,
    askToCreate:
      'Ihre Rolle erlaubt nicht, Dienste freizugeben. Fragen Sie jemanden, der Ihre Organisation verwaltet.',
    published: 'Freigegeben',
    publishedAt: 'Ihr Dienst hat diese Adresse:',
    publishedPrivate: 'Berechtigte Rechner öffnen sie mit ihrem eigenen Agenten:',
    command: 'Befehl',
    waits: 'Der Weg zu Ihrem Dienst wird gerade versucht…',
    works: 'Es läuft.',
    fails: (reason: string) => `Es läuft noch nicht: ${reason}`,
    unknownState: (state: string) => `Zustand: ${state}`,
    toShare: 'Freigabe anzeigen',
    toAccess: 'Weitere Regeln, wer hereinkommt',
    another: 'Weiteren Dienst freigeben',
  },
});
