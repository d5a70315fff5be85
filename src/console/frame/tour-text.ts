/** Texts of the tour through the console. */
import { defineText } from '../text/define-text.ts';

export type TourStep = 'agents' | 'shares' | 'access' | 'failures' | 'search';

export const tourText = defineText({
  en: {
    tour: 'Tour',
    stepOf: (step: string, of: string) => `Step ${step} of ${of}`,
    title: (step: TourStep) =>
      ({
        agents: 'Agents connect your machines',
        shares: 'Shares give a service an address',
        access: 'You decide who has access',
        failures: 'Every failure is explained',
        search: 'Invite people, and find everything',
      })[step],
    text: (step: TourStep) =>
      ({
        agents:
          'An agent runs on the machine next to your service and connects outbound, so you do not open a port. The console creates a code and shows the command that starts the agent.',
        shares:
          'A share publishes one service through an agent. A public share has a web address; a private share is only available to the machines that you select.',
        access:
          'Visitors sign in with Google, GitHub, your own identity provider or an API key. The Access page of each share adds rules for networks, people, times and rates, and shows what a change does before it is saved.',
        failures:
          'An error page shows an error ID. Enter it under Failures, or in the search, to see where the request failed, why, and what to do.',
        search:
          'Press Ctrl-K on any page to find shares, agents, people, settings and actions. Invite your colleagues under Settings, each with a role.',
      })[step],
    show: (step: TourStep) =>
      ({
        agents: 'Open Agents',
        shares: 'Open Shares',
        access: 'Open Sign-in providers',
        failures: 'Open Failures',
        search: 'Open Settings',
      })[step],
    back: 'Back',
    next: 'Next',
    end: 'End the tour',
    done: 'Done',
  },
  de: {
    tour: 'Rundgang',
    stepOf: (step: string, of: string) => `Schritt ${step} von ${of}`,
    title: (step: TourStep) =>
      ({
        agents: 'Agenten verbinden Ihre Rechner',
        shares: 'Freigaben geben einem Dienst eine Adresse',
        access: 'Sie entscheiden, wer Zugang hat',
        failures: 'Jeder Fehler wird erklärt',
        search: 'Laden Sie andere ein, und finden Sie alles',
      })[step],
    text: (step: TourStep) =>
      ({
        agents:
          'Ein Agent läuft auf dem Rechner neben Ihrem Dienst und verbindet sich nach außen. Sie öffnen keinen Port. Die Konsole erstellt einen Code und zeigt den Befehl, der den Agenten startet.',
        shares:
          'Eine Freigabe veröffentlicht einen Dienst über einen Agenten. Eine öffentliche hat eine Webadresse, eine private ist nur für die Rechner da, die Sie auswählen.',
        access:
          'Besucher melden sich mit Google, GitHub, Ihrem eigenen Anbieter oder einem API-Schlüssel an. Die Seite „Zugang“ jeder Freigabe ergänzt Regeln für Netze, Personen, Zeiten und Anfragen je Zeit, und zeigt vor dem Speichern, was eine Änderung bewirkt.',
        failures:
          'Eine Fehlerseite zeigt eine Fehler-ID. Geben Sie diese unter „Fehler“ oder in der Suche ein: Sie sehen, wo die Anfrage gescheitert ist, warum, und was zu tun ist.',
        search:
          'Strg-K findet auf jeder Seite Freigaben, Agenten, Personen, Einstellungen und Aktionen. In den Einstellungen laden Sie andere ein, jeweils mit einer Rolle.',
      })[step],
    show: (step: TourStep) =>
      ({
        agents: 'Agenten öffnen',
        shares: 'Freigaben öffnen',
        access: 'Anmeldeanbieter öffnen',
        failures: 'Fehler öffnen',
        search: 'Einstellungen öffnen',
      })[step],
    back: 'Zurück',
    next: 'Weiter',
    end: 'Rundgang beenden',
    done: 'Fertig',
  },
});
