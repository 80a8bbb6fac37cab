import { expect, test, vi } from 'vitest';
import { refusalOf } from './replies.ts';

test('when the browser denies storage, the refusal says what to do, and is not logged as an internal error', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue();
  const denied = new DOMException('The request was denied.', 'SecurityError');
  expect(refusalOf(denied)).toEqual({
    code: 'storage_unavailable',
    description: expect.stringContaining('does not let this page store data'),
  });
  expect(said).not.toHaveBeenCalled();
  expect(refusalOf(undefined)).toMatchObject({ code: 'internal server error' });
  expect(said).toHaveBeenCalledOnce();
  said.mockRestore();
});
