import type { FirstCommand } from '../../parts/first-command.ts';
import { defineText } from '../../text/define-text.ts';

/** Texts of the overview of a frontdoor that publishes nothing yet. */
export const beginText = defineText({
  en: {
    begin: 'Get started',
    what: (kind: FirstCommand) =>
      kind === 'agent'
        ? 'Publish a service in two steps. Step 1 of 2: install an agent on the machine next to your service. It connects outbound, so you do not open a port.'
        : 'Step 2 of 2: publish a service that one of your agents can reach. The share gives it an address, and you decide who has access.',
    button: (kind: FirstCommand) => (kind === 'agent' ? 'Add an agent' : 'Publish a service'),
    ask: 'Ask an administrator of your organization to do this, or to give you the role for it.',
    offer: 'New to Frontdoor? A tour in five steps shows where everything is.',
    startTour: 'Start the tour',
    noTour: 'No, thanks',
  },
  de: {
    begin: 'Erste Schritte',
    what: (kind: FirstCommand) =>
      kind === 'agent'
        ? 'Veröffentlichen Sie einen Dienst in zwei Schritten. Schritt 1 von 2: Installieren Sie einen Agenten auf dem Rechner neben Ihrem Dienst. Er verbindet sich nach außen, Sie öffnen also keinen Port.'
        : 'Schritt 2 von 2: Veröffentlichen Sie einen Dienst, den einer Ihrer Agenten erreicht. Die Freigabe gibt ihm eine Adresse, und Sie entscheiden, wer Zugang hat.',
    button: (kind: FirstCommand) =>
      kind === 'agent' ? 'Einen Agenten hinzufügen' : 'Einen Dienst veröffentlichen',
    ask: 'Bitten Sie jemanden, der Ihre Organisation verwaltet, das zu tun oder Ihnen die Rolle dafür zu geben.',
    offer: 'Neu bei Frontdoor? Ein Rundgang in fünf Schritten zeigt, wo alles ist.',
    startTour: 'Rundgang starten',
    noTour: 'Nein, danke',
  },
});
