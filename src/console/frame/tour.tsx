/**
 * A tour of the console in five steps. It stands above the page, which it does not cover, so that the person can look at what
 * a step is about, and is ended at any step.
 */
import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { tourText, type TourStep } from './tour-text.ts';

/** Each step with the page that it is about, below the frontdoor or as a whole address. */
const STEPS: readonly (readonly [TourStep, string])[] = [
  ['agents', 'agents'],
  ['shares', 'shares'],
  ['access', 'providers'],
  ['failures', 'failures'],
  ['search', '/settings/people'],
];

export function Tour({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(tourText);
  const frontdoorId = useCurrentFrontdoor();
  const [at, setAt] = useState(0);
  const [step, path] = STEPS[at]!;
  const isLast = at === STEPS.length - 1;
  const to = path.startsWith('/') ? path : `/frontdoors/${frontdoorId ?? ''}/${path}`;
  return (
    <section className="fd-panel fd-tour" aria-label={text.tour}>
      <div role="status">
        <p className="fd-soft fd-small">{text.stepOf(String(at + 1), String(STEPS.length))}</p>
        <p>
          <strong>{text.title(step)}</strong>
        </p>
        <p>{text.text(step)}</p>
      </div>
      <Group gap="xs">
        <Button component={Link} to={to} variant="default">
          {text.show(step)}
        </Button>
        {at === 0 ? null : (
          <Button variant="default" onClick={() => setAt(at - 1)}>
            {text.back}
          </Button>
        )}
        {isLast ? null : <Button onClick={() => setAt(at + 1)}>{text.next}</Button>}
        <Button variant={isLast ? 'filled' : 'subtle'} onClick={onClose}>
          {isLast ? text.done : text.end}
        </Button>
      </Group>
    </section>
  );
}
