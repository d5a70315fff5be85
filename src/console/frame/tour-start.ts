/** How a page starts the tour, which the frame shows, and whether the person has seen its offer. */
import { createContext, useContext, useState } from 'react';
import { useSession } from '../api/session.tsx';

const KEY = 'frontdoor-tour-seen';
/** People who use one browser. */
const MOST = 20;

export const TourStart = createContext<() => void>(() => undefined);

export function useTourStart(): () => void {
  return useContext(TourStart);
}

export interface TourOffer {
  readonly isOpen: boolean;
  /** The offer does not come back to this person in this browser. */
  close(): void;
}

/** For the overview of a frontdoor that has nothing yet. Others who only look at it are not offered the tour. */
export function useTourOffer(): TourOffer {
  const { caller, may } = useSession();
  const [isSeen, setSeen] = useState(() => seen().includes(caller.id));
  return {
    isOpen: !isSeen && may('createEnrollment') && may('createInvitation'),
    close: () => {
      const others = seen().filter((id) => id !== caller.id);
      localStorage.setItem(KEY, [caller.id, ...others].slice(0, MOST).join(' '));
      setSeen(true);
    },
  };
}

function seen(): readonly string[] {
  return (localStorage.getItem(KEY) ?? '').split(' ');
}
