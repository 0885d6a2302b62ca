export default { pack: { id: 'PACK_ID', version: '0.1.0' } };
