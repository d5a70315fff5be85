/** The events that destinations of notifications can receive, and who may subscribe to each. */
export interface NotificationEvent {
  /** Events of the installation need `frontdoor.admin`. */
  readonly of: 'organization' | 'installation';
  readonly meaning: string;
}

export const NOTIFICATION_EVENTS = {
  'share.failing': {
    of: 'organization',
    meaning: 'A share has failed for 30 seconds, or changes its state again and again',
  },
  'share.healthy': { of: 'organization', meaning: 'A share that was reported as failing works again' },
  'agent.away': { of: 'organization', meaning: 'An agent has been disconnected for a minute' },
  'agent.back': { of: 'organization', meaning: 'An agent that was reported as away is connected again' },
  'certificate.expiring': {
    of: 'organization',
    meaning: 'The certificate of an agent or of a domain of a share ends within 14 days',
  },
  'sign-in.new-network': {
    of: 'organization',
    meaning: 'A person signed in to the console from a network that is new for the account',
  },
  'quota.reached': {
    of: 'organization',
    meaning: 'The organization or one of its frontdoors has used 80 % or all of a limit',
  },
  'router.lost': {
    of: 'installation',
    meaning: 'A router has been disconnected from every control plane for a minute',
  },
  'router.back': { of: 'installation', meaning: 'A router that was reported as lost is connected again' },
} as const satisfies Readonly<Record<string, NotificationEvent>>;

export type NotificationEventType = keyof typeof NOTIFICATION_EVENTS;

export const NOTIFICATION_EVENT_TYPES = Object.keys(NOTIFICATION_EVENTS) as [
  NotificationEventType,
  ...NotificationEventType[],
];

export function isOfInstallation(type: NotificationEventType): boolean {
  return NOTIFICATION_EVENTS[type].of === 'installation';
}

/** What a destination receives if it names no events. */
export const DEFAULT_NOTIFICATION_EVENTS: readonly NotificationEventType[] = NOTIFICATION_EVENT_TYPES.filter(
  (type) => !isOfInstallation(type),
);

export function isNotificationEventType(text: string): text is NotificationEventType {
  return Object.hasOwn(NOTIFICATION_EVENTS, text);
}
