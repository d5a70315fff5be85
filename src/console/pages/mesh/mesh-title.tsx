/** The title of the page of one thing of the mesh, with its deletion. */
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperationId } from '#contract';
import type { CallInput } from '../../api/call.ts';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export function MeshTitle<Id extends OperationId>(props: {
  readonly title: string;
  /** The list that it stands in. */
  readonly path: 'routers' | 'gateways' | 'services' | 'terminators';
  /** The kind of the resource, as the stream of changes names it. */
  readonly kind: string;
  readonly operation: Id;
  readonly input: CallInput<Id>;
  /** The title of the question before the deletion. */
  readonly question: string;
  /** A name that has to be typed. */
  readonly typed?: string;
  /** Explains the effects of the deletion. */
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(meshText);
  const navigate = useNavigate();
  const to = `/mesh/${props.path}` as const;
  return (
    <PageTitle title={props.title} above={<Link to={to}>{text[props.path]}</Link>}>
      <DeleteButton
        operation={props.operation}
        kind={props.kind}
        input={props.input}
        label={text.delete}
        title={props.question}
        typed={props.typed}
        onDeleted={() => void navigate({ to })}
      >
        <p>{props.children}</p>
      </DeleteButton>
    </PageTitle>
  );
}
