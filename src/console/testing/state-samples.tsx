/** What pages of the style page show while they wait, and when something failed. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { Waiting } from '../parts/answer-view.tsx';
import { Panel } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';

const INTERNAL = new ApiError(500, 'internal', 'Internal error 0123456789abcdef');
const NOT_REACHED = new ApiError(0, 'not_reached', '');

export function StateSamples(): ReactNode {
  return (
    <div className="fd-beside">
      <Panel title="Loading">
        <Waiting />
      </Panel>
      <Panel title="Internal error">
        <Problem error={INTERNAL} onAgain={() => undefined} />
      </Panel>
      <Panel title="No answer">
        <Problem error={NOT_REACHED} ways={<Button size="xs">Try again</Button>} />
      </Panel>
    </div>
  );
}
