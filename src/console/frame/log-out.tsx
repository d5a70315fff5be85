/** Ends the session, and then leaves the program. Without an answer the person stays logged in, and reads that. */
import { Button, Group } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { endSession } from '../api/call.ts';
import { announceSessionEnd } from '../api/session-end.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { hasUnsavedInput } from '../parts/unsaved.ts';
import { place } from '../place.ts';
import { useText } from '../text/language.tsx';
import { frameText } from './frame-text.ts';
import { forgetPlaces } from './recent-places.ts';
import { UnsavedQuestion } from './unsaved-question.tsx';

export function LogOut(props: { readonly onClose: () => void }): ReactNode {
  const [isAsking, setAsking] = useState(hasUnsavedInput);
  if (!isAsking) return <LoggingOut {...props} />;
  return <UnsavedQuestion onClose={props.onClose} onLeave={() => setAsking(false)} />;
}

function LoggingOut({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(frameText);
  const [tries, setTries] = useState(0);
  const [error, setError] = useState<Error | undefined>();
  useEffect(() => {
    let isOver = false;
    endSession().then(
      () => {
        forgetPlaces();
        announceSessionEnd();
        window.location.assign(`${place.base}/log-in`);
      },
      (reason: Error) => isOver || setError(reason),
    );
    return () => {
      isOver = true;
    };
  }, [tries]);
  if (error === undefined) return null;
  const again = () => {
    setError(undefined);
    setTries(tries + 1);
  };
  return (
    <Dialog title={text.stillLoggedIn} isOpen onClose={onClose} size="md">
      <Problem error={error} onAgain={again} />
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          {text.stay}
        </Button>
      </Group>
    </Dialog>
  );
}
