export default {
  pack: { id: 'support', version: '1.0.0', description: 'Sorts support tickets and drafts replies.' },
};
