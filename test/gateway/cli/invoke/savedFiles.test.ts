import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeName, saveAs } from '../../../../gateway/cli/invoke/savedFiles.ts';
import { temporaryFolder } from '../../../support/files.ts';

describe('the name of a saved file', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['Größe 1+2 日本.png', 'Größe 1+2 日本.png'],
    ['../../evil.sh', '_.._evil.sh'],
    ['/etc/passwd', '_etc_passwd'],
    ['.bashrc', 'bashrc'],
    ['..', 'file'],
    ['', 'file'],
    ['a\u0000b', 'a_b'],
    ['\u001b[31mred', '__31mred'],
    ['a\u202egpj.exe', 'a_gpj.exe'],
  ])('of %j is %j', (name, safe) => expect(safeName(name)).toBe(safe));

  it('is one plain name, whatever a pack says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
        const safe = safeName(name);
        expect(safe).toBe(basename(safe));
        expect(safe).toMatch(/^[^./\\\p{Cc}\p{Cf}][^/\\\p{Cc}\p{Cf}]*$/u);
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200);
      }),
    );
  });
});

it('a file that is there is not overwritten, nor is where a link leads', async () => {
  const folder = temporaryFolder();
  const outside = join(temporaryFolder(), 'outside');
  writeFileSync(join(folder, 'a.txt'), 'before');
  symlinkSync(outside, join(folder, 'a-2.txt'));
  expect(await saveAs(folder, 'a.txt', Buffer.from('new'))).toBe(join(folder, 'a-3.txt'));
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('before');
  expect(readdirSync(folder).toSorted()).toEqual(['a-2.txt', 'a-3.txt', 'a.txt']);
  expect(() => readFileSync(outside)).toThrow('ENOENT');
});
