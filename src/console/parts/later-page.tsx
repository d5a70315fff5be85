/** The component of a page or a dialog that is loaded later. */
import { Button } from '@mantine/core';
import { use, useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { laterFile } from '../api/later-files.ts';
import { useText } from '../text/language.tsx';
import { partsText } from './parts-text.ts';
import { Problem } from './problem.tsx';

type Pages<Name extends string> = { readonly [K in Name]: ComponentType };

/** A page for the router, which shows its failure inside the frame. */
export function laterPage<Name extends string>(fetchFile: () => Promise<Pages<Name>>, name: Name) {
  const file = laterFile(fetchFile);
  function LaterPage(): ReactNode {
    const Page: ComponentType = (file.current ?? use(file.load()))[name];
    return <Page />;
  }
  return Object.assign(LaterPage, { preload: () => file.load().then(() => undefined) });
}

/** A dialog, in whose place its failure is shown. */
export function laterDialog<P extends { readonly onClose: () => void }>(
  fetchFile: () => Promise<ComponentType<P>>,
): ComponentType<P> {
  const file = laterFile(fetchFile);
  return function LaterDialog(props: P): ReactNode {
    const [failure, setFailure] = useState<Error>();
    const [Part, setPart] = useState<ComponentType<P> | undefined>(() => file.current);
    const load = () => {
      setFailure(undefined);
      file.load().then((loaded) => setPart(() => loaded), setFailure);
    };
    useEffect(() => {
      if (file.current === undefined) load();
    }, []);
    if (Part !== undefined) return <Part {...props} />;
    return failure === undefined ? null : <Failed error={failure} onAgain={load} onClose={props.onClose} />;
  };
}

/** It needs no file that is loaded later. */
function Failed(props: {
  readonly error: Error;
  readonly onAgain: () => void;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(partsText);
  return (
    <div className="fd-not-loaded">
      <Problem
        error={props.error}
        ways={
          <>
            <Button size="xs" variant="default" onClick={props.onAgain}>
              {text.tryAgain}
            </Button>
            <Button size="xs" variant="default" onClick={props.onClose}>
              {text.close}
            </Button>
          </>
        }
      />
    </div>
  );
}
