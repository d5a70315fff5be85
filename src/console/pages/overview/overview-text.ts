import { defineText } from '../../text/define-text.ts';

export const overviewText = defineText({
  en: {
    overview: 'Overview',
    shares: 'Shares',
    agents: 'Agents',
    failuresLastHour: 'Failures in the last hour',
  },
  de: {
    overview: 'Übersicht',
    shares: 'Freigaben',
    agents: 'Agenten',
    failuresLastHour: 'Fehler in der letzten Stunde',
  },
});
