export default {
  pack: { id: 'echo', version: '1.0.0', description: 'Answers what it is asked: a pack to test with.' },
};
