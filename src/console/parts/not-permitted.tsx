/** Instead of a page that the person's role does not permit. The control plane decides again. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { PageTitle } from './page-title.tsx';
import { partsText } from './parts-text.ts';

export function NotPermitted(): ReactNode {
  const text = useText(partsText);
  return (
    <>
      <PageTitle title={text.notPermitted} />
      <p>{text.notPermittedText}</p>
      <Link to="/">{text.toOverview}</Link>
    </>
  );
}
