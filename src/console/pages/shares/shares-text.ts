import { defineText } from '../../text/define-text.ts';

export const sharesText = defineText({
  en: {
    shares: 'Shares',
    overview: 'Overview',
    access: 'Access',
    requests: 'Requests',
    traffic: 'Traffic',
    settings: 'Settings',
    pagesOfShare: 'Pages of this share',
    state: (status: string) => ({ PENDING: 'Waiting', DEPLOYED: 'Works', FAILED: 'Fails' })[status] ?? status,
  },
  de: {
    shares: 'Freigaben',
    overview: 'Übersicht',
    access: 'Zugang',
    requests: 'Anfragen',
    traffic: 'Verkehr',
    settings: 'Einstellungen',
    pagesOfShare: 'Seiten dieser Freigabe',
    state: (status: string) =>
      ({ PENDING: 'Wartet', DEPLOYED: 'Läuft', FAILED: 'Gestört' })[status] ?? status,
  },
});
